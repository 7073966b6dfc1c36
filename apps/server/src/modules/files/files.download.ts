import type { Readable } from 'node:stream'
import { archiveEntriesMost, type fileEntries } from '@zhisuan/contract/files/file'
import { previewOf } from '@zhisuan/contract/files/preview'
import type { BodyOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { ZipFile } from 'yazl'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import type { Download } from '../../platform/downloads.ts'
import { Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Platform } from '../../platform/platform.ts'
import * as store from './files.store.ts'
import type { EntryRow } from './files.store.ts'
import { archiveName } from './files.texts.ts'
import { numbered } from './files.tree.ts'
import type { ShareUses } from './share.uses.ts'
import type { Transfers } from './transfers.ts'
import { refuseWithin, type Asked as Request } from './within.ts'

const kind = 'files.entry'

/** Wished for by a link. `share`: by which share it was asked for, and which of its links this is; else whose spaces it is found in. */
const asked = z.object({
  ids: z.array(z.string()),
  inline: z.boolean(),
  ip: z.string(),
  holder: z.object({ user_id: z.string(), name: z.string(), bp_id: z.string().nullable() }).nullable(),
  share: z.object({ id: z.string(), use: z.string() }).nullable(),
})
type Asked = z.output<typeof asked>
/** Sealed in a link: all of it, or of many things only which row says it, since an address may not be of any length. */
const ticket = z.union([z.object({ wish: z.uuid() }), asked])

export type FileDownloads = ReturnType<typeof createFileDownloads>

/** What goes out: a file as it is, with Range; several things as an archive that is written while it is read. */
export function createFileDownloads(
  { db, downloads, now }: Pick<Platform, 'db' | 'downloads' | 'now'>,
  { bytes, transfers, uses }: { bytes: Bytes; transfers: Transfers; uses: ShareUses },
) {
  /** Found anew each time a link is followed: what was deleted meanwhile, or is no longer theirs, is gone. */
  const entries = async ({ ids, holder, share }: Asked): Promise<EntryRow[]> => {
    if (holder !== null) return (await store.entriesOf(db, holder, ids)).filter(({ bin_id }) => bin_id === null)
    if (share === null) return []
    await uses.look(share.id)
    const [entry] = await Promise.all(ids.map((id) => store.anyEntry(db, id)))
    return entry === undefined || entry.bin_id !== null ? [] : [entry]
  }

  /** Writes down what of it really went. */
  const told = async (
    by: Asked,
    download: Download,
    about: { readonly size: number | null; readonly sha256: string | null; readonly space: string },
  ): Promise<Download> => {
    const space = await store.anySpace(db, about.space)
    return {
      ...download,
      open: async (range) => {
        const settle = by.share === null ? null : await uses.begin(by.share.id, by.share.use, { size: about.size, range })
        const stream = await download.open(range)
        // Looking at a film asks for a hundred pieces of it.
        if (by.inline) return stream
        return transfers.follow(
          stream,
          by.holder ?? { bp_id: space?.bp_id ?? null },
          {
            kind: by.share === null ? 'download' : 'share',
            name: download.name,
            space_kind: space?.kind ?? 'personal',
            ...(space?.kind === 'personal' && { owner_id: space.user_id }),
            size_bytes: range === undefined ? about.size : range.end - range.start + 1,
            sha256: about.sha256,
            ip: by.ip,
          },
          settle ?? undefined,
        )
      },
    }
  }

  downloads.offer(kind, async (text) => {
    const given = ticket.parse(JSON.parse(text))
    const row = 'wish' in given ? await store.archiveWish(db, given.wish) : undefined
    if ('wish' in given && row === undefined) return null
    const by = 'wish' in given ? asked.parse(row?.wish) : given
    const roots = await entries(by)
    const [first] = roots
    if (first === undefined || roots.length !== by.ids.length) return null
    if (first.kind === 'file' && roots.length === 1) {
      const { sha256, size_bytes: size, name } = first
      if (sha256 === null || size === null) return null
      const preview = by.inline ? previewOf(name) : null
      const file: Download = { name, size, etag: sha256, open: (range) => bytes.read(sha256, range), ...(preview !== null && { inline: preview.type }) }
      return told(by, file, { size, sha256, space: first.space_id })
    }
    const all = await store.treeOf(db, by.ids, null, archiveEntriesMost + 1)
    if (all.length > archiveEntriesMost) throw new Refusal('fileTooMany', { values: { limit: archiveEntriesMost } })
    const archive: Download = { name: archiveName(first.name, roots.length), size: null, open: () => archiveOf(bytes, all) }
    return told(by, archive, { size: null, sha256: null, space: first.space_id })
  })

  return {
    async link(actor: Actor, { ids: named, inline }: BodyOf<(typeof fileEntries)['download']>, request: Request): Promise<ExportLink> {
      const { user_id, name, bp_id } = actor
      // Whoever names one twice means it once.
      const ids = [...new Set(named)]
      const by: Asked = { ids, inline, ip: request.ip, holder: { user_id, name, bp_id }, share: null }
      const roots = await entries(by)
      if (roots.length !== ids.length) throw new Refusal('notFound')
      await refuseWithin(db, actor, request, ['files.entry.download'], ids)
      if (inline && (roots.length > 1 || roots.some((entry) => entry.kind === 'folder' || previewOf(entry.name) === null))) throw new Refusal('fileNotShown')
      if (ids.length === 1) return downloads.link(kind, JSON.stringify(by), actor)
      const id = uuidv7()
      const link = downloads.link(kind, JSON.stringify({ wish: id } satisfies z.input<typeof ticket>), actor)
      await store.insertArchiveWish(db, { id, wish: by, expires_at: new Date(link.expires_at) })
      return link
    },
    /** Links of before lead nowhere any more. */
    forget: (): Promise<void> => store.forgetArchiveWishes(db, now()),
    /** For whoever came by a share; whether it lets them was found out before. */
    linkOfShare(share: string, entryId: string, ip: string): ExportLink {
      const by: Asked = { ids: [entryId], inline: false, ip, holder: null, share: { id: share, use: uuidv7() } }
      return downloads.link(kind, JSON.stringify(by), null)
    },
  }
}

/**
 * Each once: what was chosen by itself and within a folder that was chosen too lies in that folder. What was chosen in several
 * folders and is called the same is told apart by a number, as where both are kept. A colon is a drive to whoever opens the
 * archive on Windows, and no name there.
 */
function placesOf(entries: readonly (EntryRow & { depth: number })[]): Map<EntryRow, string> {
  const once = new Map<string, EntryRow & { depth: number }>()
  for (const entry of entries) {
    // The innermost comes last, and behind the folder that it lies in.
    once.delete(entry.id)
    once.set(entry.id, entry)
  }
  const [paths, taken] = [new Map<string, string>(), new Set<string>()]
  const places = new Map<EntryRow, string>()
  for (const entry of once.values()) {
    const [start, name] = [entry.depth === 0 ? '' : `${paths.get(entry.parent_id ?? '') ?? ''}/`, entry.name.replaceAll(':', '_')]
    let path = start + name
    for (let number = 1; taken.has(path); number++) path = start + numbered(name, number)
    taken.add(path)
    paths.set(entry.id, path)
    places.set(entry, path)
  }
  return places
}

/** Stored, not pressed: most of what is large is pressed already. Names are as they lie in folders below what was chosen. */
function archiveOf(bytes: Bytes, entries: readonly (EntryRow & { depth: number })[]): Readable {
  const zip = new ZipFile()
  // What yazl declares as the interface of all streams is a PassThrough.
  const file = zip.outputStream as Readable
  let current: Readable | null = null
  file.once('close', () => current?.destroy())
  for (const [entry, path] of placesOf(entries)) {
    const { sha256, size_bytes: size, updated_at: mtime } = entry
    if (sha256 === null || size === null) zip.addEmptyDirectory(path, { mtime, mode: 0o40755 })
    else {
      zip.addReadStreamLazy(path, { mtime, mode: 0o100644, compress: false, size }, (take) => {
        bytes.read(sha256).then(
          (stream) => {
            current = stream
            stream.once('error', (error) => file.destroy(error))
            take(null, stream)
          },
          (error: unknown) => file.destroy(error instanceof Error ? error : new Error(String(error))),
        )
      })
    }
  }
  zip.once('error', (error: Error) => file.destroy(error))
  zip.end()
  return file
}
