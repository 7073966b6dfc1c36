import { errors } from '@zhisuan/contract/errors'
import { fileSpaces, fileUploads, inlineFileBytes, uploadsAtOnce, verifiedAtOnceBytes, type ConflictWay, type FileUpload } from '@zhisuan/contract/files/file'
import { useSyncExternalStore } from 'react'
import { request, toApiError } from '../../api/client.ts'
import { pause } from '../../api/pause.ts'
import { errorText } from '../../api/toasts.ts'
import { forgetUpload, sendAtOnce, sentAtOnceBytes, startUpload } from '../../kit/uploads.ts'

/** A file that somebody chose, with the folders that it lay in. */
export interface Chosen {
  readonly file: File
  readonly folders: readonly string[]
}

/** Where files are to go. */
export interface Target {
  readonly space_id: string
  readonly parent_id: string | null
}

/**
 * `waiting`: others go first. `conflict`: its name is taken, and nobody has said what then. `sending`: see kit/uploads.ts.
 * `verifying`: all of it is there, and the server makes its sum; meanwhile the next one goes.
 */
export type QueueState = 'waiting' | 'announcing' | 'conflict' | 'refused' | 'sending' | 'verifying' | 'sent'
export interface Queued {
  readonly key: string
  readonly name: string
  readonly folders: readonly string[]
  readonly size: number
  readonly state: QueueState
  /** Once it is announced. */
  readonly uploadId: string | null
  /** Why it is refused. */
  readonly error: string | null
}

/** So many go at once: more share one connection without being faster. */
const atOnce = 3
/** Of small files so much goes by one request; in base64 that is less than a request may be. */
const carriedBytesMost = 512 * 1024
/** How often it is asked whether what was sent is verified. */
const lookMs = 1_000

interface Entry extends Queued {
  readonly file: File
  readonly target: Target
  readonly conflict: ConflictWay
  /** It goes with others, by one request. */
  readonly together: boolean
  /** It went with others, and they were refused: it is asked for by itself. */
  readonly alone: boolean
}

/** Of many small files several change within the time in which a screen is drawn once. */
const toldEveryMs = 50

/** In the order in which they were chosen. Of ten thousand, one that changes is found without looking at the others. */
const entries = new Map<string, Entry>()
const [waiting, busy] = [new Set<string>(), new Set<string>()]
let shown: readonly Entry[] = []
let telling: ReturnType<typeof setTimeout> | undefined
let made = 0
const listeners = new Set<() => void>()
const tell = (): void => {
  telling ??= setTimeout(() => {
    telling = undefined
    shown = [...entries.values()]
    for (const listener of listeners) listener()
  }, toldEveryMs)
}
const mark = (set: Set<string>, key: string, so: boolean): void => void (so ? set.add(key) : set.delete(key))
const put = (entry: Entry): void => {
  entries.set(entry.key, entry)
  mark(waiting, entry.key, entry.state === 'waiting')
  mark(busy, entry.key, !entry.together && (entry.state === 'announcing' || entry.state === 'sending'))
  tell()
}
const drop = (key: string): void => {
  entries.delete(key)
  waiting.delete(key)
  busy.delete(key)
  tell()
}
const change = (key: string, to: Partial<Entry>): void => {
  const entry = entries.get(key)
  if (entry !== undefined) put({ ...entry, ...to })
}
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Requests that carry many. */
let carrying = 0

/** Starts what may start by now. */
function pump(): void {
  for (const key of waiting) {
    if (busy.size + carrying >= atOnce) return
    const entry = entries.get(key)
    if (entry === undefined) continue
    const many = entry.size > inlineFileBytes || entry.alone ? [] : smallLike(entry)
    if (many.length > 1) void carry(many)
    else void begin(entry)
  }
}

/** Those that wait and are small enough to go with this one, as many as one request takes. */
function smallLike({ target }: Entry): Entry[] {
  const many: Entry[] = []
  let bytes = 0
  for (const key of waiting) {
    const entry = entries.get(key)
    if (entry === undefined || entry.size > inlineFileBytes || entry.alone || entry.target !== target) continue
    bytes += entry.size
    if (many.length === uploadsAtOnce || bytes > carriedBytesMost) break
    many.push(entry)
  }
  return many
}

/** Ten thousand small files are a hundred requests. */
async function carry(many: readonly Entry[]): Promise<void> {
  carrying++
  for (const entry of many) put({ ...entry, state: 'announcing', error: null, together: true })
  const [{ target } = { target: null }] = many
  try {
    if (target === null) return
    const files = await Promise.all(
      many.map(async ({ file, folders, conflict }) => ({
        folders: [...folders],
        name: file.name,
        size_bytes: file.size,
        conflict,
        content: await base64(file),
      })),
    )
    const { items } = await request(fileSpaces.uploadMany, { params: { id: target.space_id }, body: { parent_id: target.parent_id, files } })
    for (const [index, { key, conflict }] of many.entries()) {
      const refused = items[index]?.refused ?? null
      if (refused === null) change(key, { state: 'sent', together: false })
      else if (refused.code === errors.fileNameTaken.code && conflict === 'refuse') change(key, { state: 'conflict', together: false })
      else change(key, { state: 'refused', error: refused.message, together: false })
    }
  } catch {
    // What is wrong with one of them is told by asking one by one.
    for (const { key } of many) change(key, { state: 'waiting', together: false, alone: true })
  } finally {
    carrying--
    pump()
  }
}

const base64 = async (file: File): Promise<string> => btoa(String.fromCharCode(...new Uint8Array(await file.arrayBuffer())))

async function begin({ key, file, folders, target, conflict }: Entry): Promise<void> {
  change(key, { state: 'announcing', error: null })
  try {
    const upload = await request(fileSpaces.upload, {
      params: { id: target.space_id },
      body: { parent_id: target.parent_id, folders: [...folders], name: file.name, size_bytes: file.size, conflict },
    })
    await send(key, upload, file)
  } catch (thrown) {
    const error = toApiError(thrown)
    if (error.code === errors.fileNameTaken.code && conflict === 'refuse') change(key, { state: 'conflict' })
    else change(key, { state: 'refused', error: [...new Set([errorText(error), ...error.fields.map(({ message }) => message)])].join('；') })
    pump()
  }
}

async function send(key: string, upload: Pick<FileUpload, 'id' | 'upload_path'>, file: File): Promise<void> {
  const done = (): void => {
    // Of ten thousand small ones nobody is asked once more.
    const verified = file.size <= verifiedAtOnceBytes
    change(key, { state: verified ? 'sent' : 'verifying' })
    pump()
    if (!verified) void settle(key, upload.id)
  }
  change(key, { state: 'sending', uploadId: upload.id })
  // One of no bytes is whole already.
  if (file.size === 0 || (file.size <= sentAtOnceBytes && (await sendAtOnce(upload.upload_path, file)))) done()
  else if (entries.has(key)) await startUpload(upload.id, upload.upload_path, file, done)
}

/** Only what was verified is there. */
async function settle(key: string, id: string): Promise<void> {
  while (entries.has(key)) {
    try {
      const { status, error } = await request(fileUploads.get, { params: { id } })
      if (status === 'done') return change(key, { state: 'sent' })
      if (status === 'failed') return change(key, { state: 'refused', error })
    } catch (thrown) {
      // Somebody gave it up elsewhere; else the line is away, and it is asked again.
      const error = toApiError(thrown)
      if (error.status === 404) return change(key, { state: 'refused', error: errorText(error) })
    }
    await pause(lookMs, new AbortController().signal)
  }
}

const entryOf = (target: Target, { file, folders }: Chosen): Entry => ({
  key: String(++made),
  name: file.name,
  folders,
  size: file.size,
  state: 'waiting',
  uploadId: null,
  error: null,
  file,
  target,
  conflict: 'refuse',
  together: false,
  alone: false,
})

/** Files to be sent: one after the other, whatever page of the console is shown. */
export function enqueue(target: Target, chosen: readonly Chosen[]): void {
  clearSent()
  for (const one of chosen) put(entryOf(target, one))
  pump()
}

/** Goes on with one that this tab does not send any more; the file was chosen again. */
export function goOn(upload: FileUpload, file: File): void {
  const entry: Entry = { ...entryOf({ space_id: upload.space_id, parent_id: null }, { file, folders: [] }), state: 'announcing' }
  put(entry)
  void send(entry.key, upload, file)
}

/** What is to be done where names are taken; of one, or of all that ask. */
export function resolveConflict(key: string | null, way: 'keep_both' | 'replace' | 'skip'): void {
  for (const entry of entries.values()) {
    if (entry.state !== 'conflict' || (key !== null && entry.key !== key)) continue
    if (way === 'skip') drop(entry.key)
    else put({ ...entry, state: 'waiting', conflict: way })
  }
  pump()
}

/** Gives one up: what came of it is deleted. */
export async function discard(key: string): Promise<void> {
  const entry = entries.get(key)
  drop(key)
  pump()
  if (entry?.uploadId !== null && entry?.uploadId !== undefined) {
    forgetUpload(entry.uploadId)
    await request(fileUploads.discard, { params: { id: entry.uploadId } }).catch(() => undefined)
  }
}

/** Those that are sent are shown no more. */
export function clearSent(): void {
  for (const { key, state } of entries.values()) if (state === 'sent') drop(key)
}

export const useQueue = (): readonly Queued[] => useSyncExternalStore(subscribe, () => shown)
