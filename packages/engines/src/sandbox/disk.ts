import { z } from 'zod'
import type { Entry } from './tar.ts'

/** What was written to a disk that is not there. */
export const disk = z.object({
  /** Base64 by path. */
  files: z.record(z.string(), z.string()).default({}),
  /** Mode, owner and group by path, as `stat` prints them. */
  attributes: z.record(z.string(), z.string()).default({}),
})
export type Disk = z.output<typeof disk>

/** A disk as it was. */
export const kept = disk.extend({ createdAt: z.number(), sizeBytes: z.number() })

export const emptyDisk: Disk = { files: {}, attributes: {} }
export const copyOf = ({ files, attributes }: Disk): Disk => ({ files, attributes })
export const bytesOn = ({ files }: Disk): number => Object.values(files).reduce((sum, content) => sum + Buffer.byteLength(content, 'base64'), 0)

export const withFile = (on: Disk, path: string, content: Buffer, attributes: string): Disk => ({
  files: { ...on.files, [path]: content.toString('base64') },
  attributes: { ...on.attributes, [path]: attributes },
})

/** Below a folder, as a machine sees a disk that is mounted there. */
export const mountedAt = (on: Disk, path: string): Disk => ({ files: moved(on.files, path), attributes: moved(on.attributes, path) })
const moved = (by: Readonly<Record<string, string>>, path: string) => Object.fromEntries(Object.entries(by).map(([each, value]) => [`${path}${each}`, value]))

export const without = (on: Disk, path: string): Disk => ({ files: outside(on.files, path), attributes: outside(on.attributes, path) })
const outside = (by: Readonly<Record<string, string>>, path: string) => Object.fromEntries(Object.entries(by).filter(([each]) => !each.startsWith(`${path}/`)))

export const entriesOf = (on: Disk, folder: string): Entry[] =>
  Object.entries(on.files)
    .sort()
    .map(([path, content]) => {
      const [mode = '644', uid = '0', gid = '0'] = (on.attributes[path] ?? '').split(' ')
      return { path: `${folder}${path}`, content: Buffer.from(content, 'base64'), mode: Number.parseInt(mode, 8), uid: Number(uid), gid: Number(gid) }
    })

export function diskOf(entries: readonly Entry[], folder: string): Disk {
  let on = emptyDisk
  for (const { path, content, mode, uid, gid } of entries) {
    if (path.startsWith(`${folder}/`)) on = withFile(on, path.slice(folder.length), content, `${mode.toString(8)} ${uid} ${gid}`)
  }
  return on
}

/**
 * What `rm -rf -- a`, `mv -f -- a b` and `mkdir -p -- a` make of a disk; null where it is none of these. Of a folder there is
 * only what lies in it.
 */
export function changedBy(command: readonly string[], on: Disk): Disk | null {
  const [program, ...rest] = command
  const [from = '', to = ''] = rest.filter((word) => !word.startsWith('-'))
  const renamed = (by: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(by).map(([path, value]) => [path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path, value]))
  const gone = (by: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(by).filter(([path]) => path !== from && !path.startsWith(`${from}/`)))
  if (program === 'mkdir') return on
  if (program === 'mv') return { files: renamed(on.files), attributes: renamed(on.attributes) }
  return program === 'rm' ? { files: gone(on.files), attributes: gone(on.attributes) } : null
}
