/** Parsers of what Linux says of itself in /proc; see proc(5). */

/** `/proc/stat`, in ticks of all processors. */
export function cpuTimes(stat: string): { busy: number; total: number } {
  const numbers = (/^cpu\s+(.*)$/m.exec(stat)?.[1] ?? '').split(/\s+/).map(Number)
  // Guests are counted in `user` already.
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, stolen = 0] = numbers
  const busy = user + nice + system + irq + soft + stolen
  return { busy, total: busy + idle + wait }
}

export function bootedAt(stat: string): Date {
  return new Date(Number(/^btime (\d+)$/m.exec(stat)?.[1] ?? 0) * 1_000)
}

/** `/proc/meminfo`, in bytes. */
export function memoryOf(meminfo: string): { total: number; available: number; swapTotal: number } {
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? 0) * 1024
  return { total: bytes('MemTotal'), available: bytes('MemAvailable'), swapTotal: bytes('SwapTotal') }
}

/** `/proc/cpuinfo`: a core is what its socket and number name; ARM names neither. */
export function cpuOf(cpuinfo: string): { model: string; cores: number; threads: number } {
  const processors = cpuinfo.split(/\n\s*\n/).filter((part) => /^processor\s*:/m.test(part))
  const field = (part: string, name: string): string | undefined => new RegExp(`^${name}\\s*:\\s*(.*)$`, 'm').exec(part)?.[1]?.trim()
  const cores = new Set(processors.map((part, n) => `${field(part, 'physical id') ?? '-'} ${field(part, 'core id') ?? n}`))
  return { model: field(cpuinfo, 'model name') ?? field(cpuinfo, 'Model') ?? field(cpuinfo, 'CPU part') ?? '', cores: cores.size, threads: processors.length }
}

/** On disks of this node. One on the network, whose server is gone, would hold whoever asks how full it is. */
const local = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'vfat', 'exfat', 'ntfs', 'ntfs3', 'jfs', 'reiserfs', 'bcachefs'])

export interface MountedDisk {
  readonly mount: string
  readonly device: string
  readonly fileSystem: string
}

/** `/proc/self/mountinfo`: each file system once, where it was mounted first. */
export function disksOf(mountinfo: string): MountedDisk[] {
  const disks = new Map<string, MountedDisk>()
  for (const line of mountinfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ')
    const [, , number = '', , mount = ''] = left.split(' ')
    const [fileSystem = '', device = ''] = right.split(' ')
    if (!local.has(fileSystem) || disks.has(number)) continue
    disks.set(number, { mount: unescaped(mount), device: unescaped(device), fileSystem })
  }
  return [...disks.values()]
}
/** Blanks stand as octal numbers. */
const unescaped = (text: string): string => text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/** `/proc/net/dev`, since boot. */
export function trafficOf(dev: string): { name: string; received: number; sent: number }[] {
  return dev.split('\n').flatMap((line) => {
    const match = /^\s*([^\s:]+):\s*(.*)$/.exec(line)
    if (match === null) return []
    const [received = 0, , , , , , , , sent = 0] = (match[2] ?? '').split(/\s+/).map(Number)
    return [{ name: match[1] ?? '', received, sent }]
  })
}

/** Neither the node with itself nor one end of a container. */
export const isOutward = (nic: string): boolean => nic !== 'lo' && !/^(veth|cali|cni|flannel|lxc)/.test(nic)

/** `/etc/os-release`. */
export function osName(release: string): string {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}=(?:"(.*)"|(.*))$`, 'm')
      .exec(release)
      ?.slice(1)
      .find((one) => one !== undefined)
  return field('PRETTY_NAME') ?? field('NAME') ?? 'Linux'
}
