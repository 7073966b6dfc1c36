import type { CallOptions } from '../compute.ts'
import { isEngineError } from '../errors.ts'
import { runCommand } from './exec.ts'
import type { LxdInstance } from './parse.ts'
import type { Transport } from './transport.ts'

/** Looking must not hold up what it is for. */
const lookMs = 10_000

/** Working and root directories and open files of all processes, each as `'link' -> 'target'`. */
const openFiles = [
  'find',
  '/proc',
  '-mindepth',
  '1',
  '-maxdepth',
  '3',
  '(',
  '!',
  '-path',
  '/proc/[0-9]*',
  '-o',
  '-path',
  '/proc/*/*',
  '-type',
  'd',
  '!',
  '-name',
  'fd',
  ')',
  '-prune',
  '-o',
  '(',
  '-path',
  '/proc/*/fd/*',
  '-o',
  '-path',
  '/proc/*/cwd',
  '-o',
  '-path',
  '/proc/*/root',
  ')',
  '-exec',
  'stat',
  '-c',
  '%N',
  '{}',
  '+',
] as const
/** Which processes have a file of a directory in their memory: programs that run, and mapped files. */
const mappedFiles = (directory: string) =>
  ['find', '/proc', '-mindepth', '2', '-maxdepth', '2', '-name', 'maps', '-exec', 'grep', '-l', '-F', ` ${directory}/`, '{}', '+'] as const

/**
 * Whether a process of a running instance uses what a disk device of it mounts. The engine would
 * take it away all the same, and the process would go on writing to a disk that nobody sees any
 * more. Asked with what busybox and every distribution have, without a shell. What cannot be told
 * (no such programs, no agent in a virtual machine) counts as not in use.
 */
export async function inUse(transport: Transport, raw: LxdInstance, device: string, options: CallOptions): Promise<boolean> {
  const signal = AbortSignal.any([AbortSignal.timeout(lookMs), ...(options.signal === undefined ? [] : [options.signal])])
  const run = async (command: readonly [string, ...string[]]): Promise<string> =>
    (await runCommand(transport, `/1.0/instances/${encodeURIComponent(raw.name)}`, { command }, { signal })).stdout.toString('utf8')
  try {
    const path = raw.devices?.[device]?.['path']
    return await (path === undefined ? isDiskMounted(run, device) : isDirectoryUsed(run, path))
  } catch (error) {
    if (options.signal?.aborted === true || transport.closed.aborted || isEngineError(error, 'unauthorized', 'unreachable', 'unanswered')) throw error
    return false
  }
}

type Run = (command: readonly [string, ...string[]]) => Promise<string>

async function isDirectoryUsed(run: Run, path: string): Promise<boolean> {
  // The mount lies where the path leads to.
  const directory = (await run(['readlink', '-f', path])).trim() || path
  const within = (target: string): boolean => target === directory || target.startsWith(`${directory}/`)
  const mountPoints = mounts(await run(['cat', '/proc/self/mountinfo'])).map(({ point }) => point)
  if (!mountPoints.includes(directory)) return false
  // What is mounted below would go with it.
  if (mountPoints.some((point) => point.startsWith(`${directory}/`))) return true
  const links = (await run(openFiles)).split('\n')
  if (links.some((link) => within(/ -> ['‘"](.*?)['’"]?$/.exec(link)?.[1] ?? ''))) return true
  return (await run(mappedFiles(directory))).trim() !== ''
}

/** A whole disk in a virtual machine, which the guest knows by the device's name. */
async function isDiskMounted(run: Run, device: string): Promise<boolean> {
  const mounted = mounts(await run(['cat', '/proc/self/mountinfo'])).map(({ source }) => source)
  const swaps = (await run(['cat', '/proc/swaps'])).split('\n').map((line) => line.split(/\s/, 1)[0] ?? '')
  for (const product of ['lxd', 'incus']) {
    const disk = (await run(['readlink', '-f', `/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_${product}_${device}`])).trim()
    // Or one of its partitions.
    if (/^\/dev\/[^/]+$/.test(disk) && [...mounted, ...swaps].some((source) => source.startsWith(disk))) return true
  }
  return false
}

/** /proc/self/mountinfo: fields before the dash, of which the fifth is the mount point, then type and source. */
const mounts = (text: string): { point: string; source: string }[] =>
  text.split('\n').map((line) => {
    const [before = '', after = ''] = line.split(' - ')
    return { point: unescaped(before.split(' ')[4] ?? ''), source: unescaped(after.split(' ')[1] ?? '') }
  })
const unescaped = (text: string): string => text.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
