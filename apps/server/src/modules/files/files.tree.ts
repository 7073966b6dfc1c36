import { folderDepthMost, type ConflictWay } from '@zhisuan/contract/files/file'
import type { Tx } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import * as store from './files.store.ts'
import type { EntryRow, SpaceRow } from './files.store.ts'

/** Whose doing it is, as rows say it. */
export interface Author {
  readonly user_id: string
  readonly name: string
}

/** Numbers that are looked at where a name is taken. */
const numbersMost = 1_000

const encoder = new TextEncoder()
/** The stem cut so that the whole keeps within 255 bytes, and no character is cut in two. */
export function numbered(name: string, number: number): string {
  const point = name.lastIndexOf('.')
  const [stem, ending] = point > 0 ? [name.slice(0, point), name.slice(point)] : [name, '']
  const tail = ` (${number})${ending}`
  let cut = [...stem]
  while (cut.length > 1 && encoder.encode(cut.join('') + tail).length > 255) cut = cut.slice(0, -1)
  return cut.join('') + tail
}

/** The folder that it is to lie in; null: the top. @throws Refusal fileParentGone */
export async function folderAt(tx: Tx, spaceId: string, parentId: string | null): Promise<void> {
  if (parentId !== null && (await store.folderIn(tx, spaceId, parentId)) === undefined) throw new Refusal('fileParentGone', { field: 'parent_id' })
}

/** How many folders something at that place lies in. */
const depthAt = async (tx: Tx, parentId: string | null): Promise<number> => (parentId === null ? 0 : (await store.pathOf(tx, parentId)).length + 1)

/** @param within how many folders it brings along, one below the other @throws Refusal fileTooDeep */
export async function refuseTooDeep(tx: Tx, parentId: string | null, within: number): Promise<void> {
  if ((await depthAt(tx, parentId)) + within > folderDepthMost) throw new Refusal('fileTooDeep', { values: { limit: folderDepthMost } })
}

/** What becomes of a name that is taken. To replace says of what has it whether it may go; it refuses where it may not. */
export type WhereTaken = Exclude<ConflictWay, 'replace'> | ((there: EntryRow) => Promise<'replace' | 'keep_both'>)

/**
 * The name that something new gets at a place; what has it is sent to the bin where that is asked for. The caller holds the space.
 * Folders are neither replaced nor do they replace: what would go with them nobody saw.
 * @throws Refusal fileNameTaken, and as `whereTaken` does
 */
export async function nameAt(
  tx: Tx,
  by: Author,
  at: { readonly space_id: string; readonly parent_id: string | null },
  wanted: { readonly name: string; readonly kind: EntryRow['kind'] },
  whereTaken: WhereTaken,
): Promise<string> {
  const there = await store.entryNamed(tx, at.space_id, at.parent_id, wanted.name)
  if (there === undefined) return wanted.name
  const files = there.kind === 'file' && wanted.kind === 'file'
  const conflict = typeof whereTaken === 'string' ? whereTaken : files ? await whereTaken(there) : 'refuse'
  if (conflict === 'keep_both') {
    const names = Array.from({ length: numbersMost }, (_, index) => numbered(wanted.name, index + 1))
    const taken = await store.namesTaken(tx, at.space_id, at.parent_id, names)
    const free = names.find((name) => !taken.has(name))
    if (free !== undefined) return free
  }
  if (conflict === 'replace') {
    await intoBin(tx, by, there)
    return wanted.name
  }
  throw new Refusal('fileNameTaken', { values: { name: wanted.name }, field: 'name' })
}

/** Sends something and all within it to the bin. The caller holds the space. */
export async function intoBin(tx: Tx, by: Author, entry: EntryRow): Promise<void> {
  const path = await store.pathOf(tx, entry.id)
  await store.binTree(tx, entry.id)
  await store.updateEntry(tx, entry.id, {
    deleted_at: new Date(),
    deleted_by_name: by.name,
    deleted_from: ['', ...path.map(({ name }) => name)].join('/') || '/',
  })
}

/** Folders below a place, made where they are not there. @returns the innermost */
export async function foldersAt(tx: Tx, by: Author, space: SpaceRow, parentId: string | null, names: readonly string[]): Promise<string | null> {
  await folderAt(tx, space.id, parentId)
  await refuseTooDeep(tx, parentId, names.length)
  let at = parentId
  for (const name of names) {
    const there = await store.entryNamed(tx, space.id, at, name)
    if (there?.kind === 'file') throw new Refusal('fileNameTaken', { values: { name }, field: 'folders' })
    const id = there?.id ?? uuidv7()
    if (there === undefined) await store.insertEntries(tx, entryRow(by, space, { id, parent_id: at, kind: 'folder', name }))
    at = id
  }
  return at
}

export const entryRow = (
  by: Author,
  space: Pick<SpaceRow, 'id' | 'bp_id'>,
  entry: Pick<EntryRow, 'id' | 'parent_id' | 'kind' | 'name'> & Partial<Pick<EntryRow, 'sha256' | 'size_bytes' | 'counts_for'>>,
) => ({
  sha256: null,
  size_bytes: null,
  counts_for: null,
  ...entry,
  space_id: space.id,
  bp_id: space.bp_id,
  created_by: by.user_id,
  created_by_name: by.name,
  bin_id: null,
  deleted_at: null,
  deleted_by_name: null,
  deleted_from: null,
})
