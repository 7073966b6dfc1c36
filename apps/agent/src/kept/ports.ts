import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { allPids, markOf, nameOf } from './processes.ts'

export interface Listener {
  readonly port: number
  readonly protocol: 'tcp' | 'udp'
  /** As the kernel writes it, hex; all zero: any. */
  readonly address: string
  readonly inode: string
}

/** Parses a file such as /proc/net/tcp6: who listens, or of UDP who has a port at all. */
export function listenersOf(text: string, protocol: Listener['protocol']): Listener[] {
  return text.split('\n').flatMap((row) => {
    const fields = row.trim().split(/\s+/)
    const [address = '', port = ''] = (fields[1] ?? '').split(':')
    if (!/^[0-9A-F]{4}$/.test(port)) return []
    // 0A: LISTEN; 07: of UDP, not connected.
    if (fields[3] !== (protocol === 'tcp' ? '0A' : '07')) return []
    return [{ port: Number.parseInt(port, 16), protocol, address, inode: fields[9] ?? '' }]
  })
}

/** IPv4 as the kernel writes it, on a machine whose bytes are in the usual order. */
const hex = (address: string): string =>
  address
    .split('.')
    .toReversed()
    .map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, '0'))
    .join('')
const isAny = (address: string): boolean => /^0+$/.test(address)

/** Whether both cannot be had at once. What is not understood is taken to be. */
function overlaps(listener: Listener, address: string): boolean {
  if (isAny(listener.address) || address === '0.0.0.0' || address === '::' || address === '') return true
  const mapped = listener.address.length === 32 && listener.address.startsWith('0000000000000000FFFF0000')
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(address)) return listener.address.length === 32 && !mapped
  return listener.address.length === 8 ? listener.address === hex(address) : mapped && listener.address.endsWith(hex(address))
}

/** An address as people write it; an empty one of all. */
function readable(address: string): string {
  if (isAny(address)) return ''
  const bytes = (address.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).toReversed()).map((byte) => Number.parseInt(byte, 16))
  if (bytes.length === 4) return bytes.join('.')
  if (address.startsWith('0000000000000000FFFF0000')) return bytes.slice(12).join('.')
  return Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0)).toString(16)).join(':')
}

const files = [
  ['tcp', 'tcp'],
  ['tcp6', 'tcp'],
  ['udp', 'udp'],
  ['udp6', 'udp'],
] as const

/** All ports that anybody has here. */
export const allListeners = (): { port: number; protocol: Listener['protocol']; address: string }[] =>
  files
    .flatMap(([file, protocol]) => listenersOf(readOr(`/proc/net/${file}`), protocol))
    .map(({ port, protocol, address }) => ({ port, protocol, address: readable(address) }))

export interface PortHolder {
  /** Null where it cannot be seen. */
  readonly pid: number | null
  readonly name: string
  readonly mark: string | null
}

/** Who has it; null where nobody does. */
export function holderOf(wanted: { readonly port: number; readonly protocol: 'tcp' | 'udp'; readonly address: string }): PortHolder | null {
  const listener = files
    .flatMap(([file, protocol]) => (protocol === wanted.protocol ? listenersOf(readOr(`/proc/net/${file}`), protocol) : []))
    .find((one) => one.port === wanted.port && overlaps(one, wanted.address))
  if (listener === undefined) return null
  const pid = allPids().find((one) => hasSocket(one, listener.inode)) ?? null
  return { pid, name: pid === null ? '' : nameOf(pid), mark: pid === null ? null : markOf(pid) }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // A kernel without IPv6.
    return ''
  }
}

function hasSocket(pid: number, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`
      } catch {
        return false
      }
    })
  } catch {
    return false
  }
}
