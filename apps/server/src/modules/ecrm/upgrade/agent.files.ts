import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { agentVersion } from '@zhisuan/contract/agent/tunnel'
import { z } from 'zod'

/** A version of the agent that nodes can have. */
export interface AgentBundle {
  readonly version: string
  readonly path: string
  /** Hex. */
  readonly sha256: string
  readonly sizeBytes: number
  readonly releasedAt: Date
}

/** What `scripts/build-agent` makes: a bundle, and beside it which version that is. */
const builtHere = new URL('../../../../../agent/dist/', import.meta.url).pathname
const about = z.object({ version: agentVersion })

/** A Node.js that nodes can have where they have none of their own. */
export interface NodeProgram {
  readonly version: string
  /** As `uname -m` calls it. */
  readonly machine: string
  readonly path: string
  readonly sha256: string
  readonly sizeBytes: number
}
const machines: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'x86_64', arm64: 'aarch64' }

export type AgentFiles = ReturnType<typeof createAgentFiles>

/** Bundles lie in `agents/<version>/agent.mjs` of the data directory; the one that was built beside the server is one of them. */
export function createAgentFiles(dataDir: string, builtFolder: string = builtHere) {
  const folder = join(dataDir, 'agents')
  /** Hashes by path, size and moment: files of megabytes are not read for each list. */
  const known = new Map<string, string>()

  const bundleAt = async (version: string, path: string): Promise<AgentBundle | null> => {
    const file = await stat(path).catch(() => null)
    if (file === null || !file.isFile()) return null
    const key = `${path} ${file.size} ${file.mtimeMs}`
    const sha256 = known.get(key) ?? (await hashOf(path))
    known.set(key, sha256)
    return { version, path, sha256, sizeBytes: file.size, releasedAt: file.mtime }
  }
  const built = async (): Promise<AgentBundle | null> => {
    const text = await readFile(join(builtFolder, 'agent.json'), 'utf8').catch(() => null)
    return text === null ? null : bundleAt(about.parse(JSON.parse(text)).version, join(builtFolder, 'agent.mjs'))
  }
  /** The newest first. */
  const list = async (): Promise<AgentBundle[]> => {
    const names = (await readdir(folder).catch(() => [])).filter((name) => agentVersion.safeParse(name).success)
    const found = await Promise.all([built(), ...names.map((name) => bundleAt(name, join(folder, name, 'agent.mjs')))])
    // Where both are there, the one of the data directory was put there on purpose.
    const byVersion = new Map(found.flatMap((bundle) => (bundle === null ? [] : [[bundle.version, bundle] as const])))
    return [...byVersion.values()].toSorted((one, other) => compareVersions(other.version, one.version))
  }
  return {
    list,
    /** The one that this server runs on; null where it is for no machine that nodes are. */
    async node(): Promise<NodeProgram | null> {
      const machine = process.platform === 'linux' ? machines[process.arch] : undefined
      const program = await bundleAt(process.versions.node, process.execPath)
      return machine === undefined || program === null ? null : { ...program, machine }
    },
    get: async (version: string): Promise<AgentBundle | null> => (await list()).find((bundle) => bundle.version === version) ?? null,
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** By SemVer's order, as far as our versions go: a pre-release is before its release. */
export function compareVersions(one: string, other: string): number {
  const [[a, aPre], [b, bPre]] = [split(one), split(other)]
  for (const [index, number] of a.entries()) if (number !== b[index]) return number - (b[index] ?? 0)
  if (aPre === '' || bPre === '') return Number(bPre !== '') - Number(aPre !== '')
  return aPre.localeCompare(bPre, 'en', { numeric: true })
}
const split = (version: string): [number[], string] => {
  const [core = '', ...pre] = version.split('-')
  return [core.split('.').map(Number), pre.join('-')]
}
