import { readdirSync, readFileSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { hostname, machine, networkInterfaces, release } from 'node:os'
import { join } from 'node:path'
import type { NodeFacts, NodeMetrics } from '@zhisuan/contract/agent/node'
import { z } from 'zod'
import { composeCommand } from './compose.command.ts'
import { askDocker } from './docker.ts'
import { gpuFacts, gpuMetrics } from './gpus.ts'
import { bootedAt, cpuOf, cpuTimes, disksOf, isOutward, memoryOf, osName, trafficOf, type MountedDisk } from './proc.ts'
import { version } from './version.ts'

export interface Host {
  /** Where the node's own root is: `/`, or where a container has it mounted. */
  readonly root: string
  readonly dockerSocket: string
}

/** As long as the contract takes. */
const clip = (text: string): string => text.slice(0, 255)
const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}

/** The mounts of the node, not those of the container that the agent may be in. */
const mounts = async ({ root }: Host): Promise<MountedDisk[]> =>
  disksOf(await readFile(root === '/' ? '/proc/self/mountinfo' : '/proc/1/mountinfo', 'utf8')).slice(0, 256)

async function sizesOf({ root }: Host, disk: MountedDisk): Promise<{ total_bytes: number; used_bytes: number } | null> {
  try {
    const { bsize, blocks, bfree } = await statfs(join(root, disk.mount))
    return { total_bytes: blocks * bsize, used_bytes: (blocks - bfree) * bsize }
  } catch {
    // Unmounted meanwhile, or not for us to see.
    return null
  }
}
async function disksWithSizes(host: Host) {
  const all = await Promise.all((await mounts(host)).map(async (disk) => ({ disk, sizes: await sizesOf(host, disk) })))
  return all.flatMap(({ disk, sizes }) => (sizes === null || sizes.total_bytes === 0 ? [] : [{ disk, sizes }]))
}

function nics(): NodeFacts['nics'] {
  const addresses = networkInterfaces()
  let names: string[]
  try {
    names = readdirSync('/sys/class/net')
  } catch {
    names = Object.keys(addresses)
  }
  return names
    .filter(isOutward)
    .slice(0, 256)
    .map((name) => {
      // -1, or an error, where there is no cable.
      const speed = Number(read(`/sys/class/net/${name}/speed`) ?? -1)
      return {
        name: clip(name),
        mac: clip(read(`/sys/class/net/${name}/address`) ?? ''),
        addresses: (addresses[name] ?? [])
          .filter(({ address }) => !address.startsWith('fe80:'))
          .map(({ address }) => address)
          .slice(0, 64),
        speed_mbps: Number.isInteger(speed) && speed > 0 ? speed : null,
      }
    })
}

const dockerVersion = z.object({ Version: z.string(), ApiVersion: z.string() })
const dockerInfo = z.object({ Driver: z.string(), DockerRootDir: z.string(), Runtimes: z.record(z.string(), z.unknown()).nullish() })
async function dockerFacts({ dockerSocket }: Host): Promise<Pick<NodeFacts, 'docker' | 'docker_error'>> {
  try {
    const [{ Version, ApiVersion }, { Driver, DockerRootDir, Runtimes }, compose] = await Promise.all([
      askDocker(dockerSocket, '/version', dockerVersion),
      askDocker(dockerSocket, '/info', dockerInfo),
      composeCommand(),
    ])
    return {
      docker: {
        version: clip(Version),
        api_version: clip(ApiVersion),
        storage_driver: clip(Driver),
        root: clip(DockerRootDir),
        compose_version: compose === null ? null : clip(compose.version),
        gpu_runtime: Object.hasOwn(Runtimes ?? {}, 'nvidia'),
      },
      docker_error: null,
    }
  } catch (error) {
    return { docker: null, docker_error: clip(error instanceof Error ? error.message : String(error)) }
  }
}

export async function factsOf(host: Host): Promise<NodeFacts> {
  const [stat, meminfo, cpuinfo, disks, gpus, docker] = await Promise.all([
    readFile('/proc/stat', 'utf8'),
    readFile('/proc/meminfo', 'utf8'),
    readFile('/proc/cpuinfo', 'utf8'),
    disksWithSizes(host),
    gpuFacts(),
    dockerFacts(host),
  ])
  const memory = memoryOf(meminfo)
  const cpu = cpuOf(cpuinfo)
  return {
    host_name: clip(hostname()),
    machine_id: clip(read(join(host.root, 'etc/machine-id')) ?? read('/sys/class/dmi/id/product_uuid') ?? ''),
    os: clip(osName(read(join(host.root, 'etc/os-release')) ?? '')),
    kernel: clip(release()),
    architecture: machine(),
    cpu: { ...cpu, model: clip(cpu.model) },
    memory_bytes: memory.total,
    swap_bytes: memory.swapTotal,
    disks: disks.map(({ disk, sizes }) => ({
      mount: clip(disk.mount),
      device: clip(disk.device),
      file_system: disk.fileSystem,
      total_bytes: sizes.total_bytes,
    })),
    nics: nics(),
    gpus: gpus.slice(0, 64),
    ...docker,
    booted_at: bootedAt(stat).toISOString(),
    agent_version: version,
  }
}

/** Remembers the question before. */
export function createMetrics(host: Host): () => Promise<NodeMetrics> {
  let before: { busy: number; total: number } | null = null
  return async () => {
    const [stat, meminfo, load, dev, disks, gpus] = await Promise.all([
      readFile('/proc/stat', 'utf8'),
      readFile('/proc/meminfo', 'utf8'),
      readFile('/proc/loadavg', 'utf8'),
      readFile('/proc/net/dev', 'utf8'),
      disksWithSizes(host),
      gpuMetrics(),
    ])
    const now = cpuTimes(stat)
    const passed = before === null ? 0 : now.total - before.total
    const share = before === null || passed <= 0 ? null : Math.min(1, Math.max(0, (now.busy - before.busy) / passed))
    before = now
    const memory = memoryOf(meminfo)
    const [one = 0, five = 0, fifteen = 0] = load.split(' ').map(Number)
    return {
      at: new Date().toISOString(),
      cpu_share: share,
      load: [one, five, fifteen],
      memory: { total_bytes: memory.total, used_bytes: memory.total - memory.available },
      disks: disks.map(({ disk, sizes }) => ({ mount: clip(disk.mount), ...sizes })),
      nics: trafficOf(dev)
        .filter(({ name }) => isOutward(name))
        .slice(0, 256)
        .map(({ name, received, sent }) => ({ name: clip(name), received_bytes: received, sent_bytes: sent })),
      gpus: gpus.slice(0, 64),
    }
  }
}
