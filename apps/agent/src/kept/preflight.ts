import { accessSync, constants, lstatSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { KeptPreflight, KeptProblem, KeptReason, KeptWish } from '@zhisuan/contract/agent/kept'
import type { Host } from '../facts.ts'
import { memoryOf } from '../proc.ts'
import type { Accounts } from './accounts.ts'
import type { Docker } from './docker.ts'
import { findProgram, isEmpty, nearest, passes, saysVersion, versionOf } from './places.ts'
import { holderOf } from './ports.ts'
import type { Places } from './store.ts'

/** A bundle, and what it becomes unpacked. */
const unpackedTimes = 4

export interface Neighbour {
  readonly name: string
  readonly ports: KeptWish['ports']
}

export interface PreflightParts {
  readonly wish: KeptWish
  readonly places: Places
  readonly mark: string
  readonly host: Host
  readonly accounts: Accounts
  readonly docker: Docker
  /** Of the program itself, as it is now; it may have what it has. */
  readonly now: { readonly ports: KeptWish['ports']; readonly data_path: string | null }
  readonly others: readonly Neighbour[]
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1_000)

/** Why it would not run here; changes nothing. */
export async function preflight(parts: PreflightParts): Promise<KeptPreflight> {
  const { wish } = parts
  const problems: KeptProblem[] = []
  const tell = (reason: KeptReason, values: KeptProblem['values']): void => void problems.push({ reason, values })
  const program_version = await program(parts, tell)
  if (wish.prepare !== null && findProgram(wish.prepare.name) === null) tell('program_missing', { program: wish.prepare.name })
  ports(parts, tell)
  await room(parts, tell)
  await account(parts, tell)
  if (wish.data !== null) data(parts, tell)
  return { problems, program_version }
}

type Tell = (reason: KeptReason, values: KeptProblem['values']) => void

async function program({ wish, host, docker }: PreflightParts, tell: Tell): Promise<string | null> {
  const { program: what, version } = wish
  if (what.kind === 'image') {
    await docker.ping().catch((error: unknown) => tell('docker_missing', { said: words(error) }))
    return null
  }
  if (host.root !== '/') {
    tell('agent_contained', {})
    return null
  }
  if (what.kind === 'bundle') return null
  const path = findProgram(what.name)
  if (path === null) {
    tell('program_missing', { program: what.name })
    return null
  }
  if (what.version_arguments === null) return null
  try {
    const said = await versionOf(path, what.version_arguments)
    if (version !== null && !saysVersion(said, version)) tell('version_other', { program: path, wanted: version, found: said })
    return said
  } catch (error) {
    tell('program_broken', { program: path, said: words(error) })
    return null
  }
}

function ports({ wish, mark, now, others }: PreflightParts, tell: Tell): void {
  for (const wanted of wish.ports) {
    const same = (other: KeptWish['ports'][number]): boolean => other.port === wanted.port && other.protocol === wanted.protocol
    if (now.ports.some(same)) continue
    const { port, protocol } = wanted
    const other = others.find((one) => one.ports.some(same))
    const holder = other === undefined ? holderOf(wanted) : null
    if (other !== undefined) tell('port_taken', { port, protocol, by: other.name })
    else if (holder !== null && holder.mark !== mark) tell('port_taken', { port, protocol, by: holder.pid === null ? '' : `${holder.name} (${holder.pid})` })
  }
}

async function room({ wish, places }: PreflightParts, tell: Tell): Promise<void> {
  const { disk_bytes, memory_bytes } = wish.needs
  const bundle_bytes = wish.program.kind === 'bundle' ? wish.program.size_bytes * unpackedTimes : 0
  const own = dirname(places.own)
  const wants = new Map([[nearest(own), bundle_bytes]])
  const data = nearest(wish.data?.path ?? own)
  wants.set(data, (wants.get(data) ?? 0) + disk_bytes)
  for (const [path, needed_bytes] of wants) {
    if (needed_bytes === 0) continue
    const { bavail, bsize } = await statfs(path)
    if (bavail * bsize < needed_bytes) tell('disk_short', { path, free_bytes: bavail * bsize, needed_bytes })
  }
  const free_bytes = memoryOf(readFileSync('/proc/meminfo', 'utf8')).available
  if (free_bytes < memory_bytes) tell('memory_short', { free_bytes, needed_bytes: memory_bytes })
}

async function account({ wish, places, accounts }: PreflightParts, tell: Tell): Promise<void> {
  const name = accounts.nameFor(wish)
  if (name === null) return
  const there = await accounts.find(name)
  const useradd = findProgram('useradd')
  const reason =
    there !== null && !there.switch ? null : (accounts.cannotMake(name) ?? (there === null && useradd === null ? 'there is no useradd on the node' : null))
  if (reason !== null) return tell('user_unmakable', { user: name, said: reason })
  // One that is yet to be made is like any other.
  const it = there ?? { name, uid: -1, gid: -1, switch: true }
  const closed = [
    ...new Set([nearest(places.own), ...(wish.data?.path === undefined || wish.data.path === null ? [] : [nearest(dirname(wish.data.path))])]),
  ].find((path) => !passes(it, path))
  if (closed !== undefined) tell('data_closed', { path: closed, user: name, said: 'it may not pass through the folders above' })
}

function data({ wish, places, now }: PreflightParts, tell: Tell): void {
  const path = wish.data?.path ?? null
  if (path === null || wish.data === null) return
  if (path === places.own || places.own.startsWith(`${path}/`)) return tell('data_foreign', { path })
  try {
    const there = lstatSync(path, { throwIfNoEntry: false })
    if (there !== undefined && !there.isDirectory()) return tell('data_foreign', { path })
    accessSync(nearest(path), constants.W_OK)
    if (!wish.data.adopt && now.data_path !== path && !isEmpty(path)) tell('data_foreign', { path })
  } catch (error) {
    tell('data_closed', { path, user: '', said: words(error) })
  }
}
