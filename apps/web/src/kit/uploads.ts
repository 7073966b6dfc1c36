import { auth } from '@zhisuan/contract/ums/auth'
import { useSyncExternalStore } from 'react'
import type { DetailedError, Upload as TusUpload } from 'tus-js-client'
import { request } from '../api/client.ts'
import { refreshAccess } from '../api/refresh.ts'
import { readToken } from '../api/cookies.ts'
import { paceOf, withSample, type Sample } from './uploadPace.ts'

/** A file on its way from this tab. It goes on whatever page of the console is shown. */
export interface LocalUpload {
  readonly state: 'running' | 'paused' | 'failed'
  readonly sentBytes: number
  readonly totalBytes: number
  readonly bytesPerSecond: number | null
  readonly leftMs: number | null
}

/** Each request carries so much: one that breaks off loses no more, and proxies let it through. */
const pieceBytes = 16 * 2 ** 20
/** Waits between tries; then a person has to say that it is to go on. */
const retryMs = [0, 1_000, 3_000, 5_000, 10_000, 20_000, 30_000]

/** One of all that this tab sends. */
export interface OwnUpload extends LocalUpload {
  readonly id: string
  /** What the file is called. */
  readonly name: string
  /** The page on which it was begun. */
  readonly place: string
}

interface Entry {
  upload: TusUpload
  readonly name: string
  readonly place: string
  shown: LocalUpload
  samples: readonly Sample[]
}
const entries = new Map<string, Entry>()
const listeners = new Set<() => void>()
let all: readonly OwnUpload[] = []
const tell = (): void => {
  all = [...entries].map(([id, { name, place, shown }]) => ({ id, name, place, ...shown }))
  listeners.forEach((listener) => listener())
}

const change = (id: string, next: Partial<LocalUpload>): void => {
  const entry = entries.get(id)
  if (entry === undefined) return
  entry.shown = { ...entry.shown, ...next }
  tell()
}

/** Leaving ends the uploads of this tab: the browser asks first. */
const askBeforeLeaving = (event: BeforeUnloadEvent): void => {
  if ([...entries.values()].some(({ shown }) => shown.state === 'running')) event.preventDefault()
}

/** Before the server is asked again: another access token, where this one has ended meanwhile. */
const renew = (): void => {
  const token = readToken()
  if (token !== null) void refreshAccess(token, async () => (await request(auth.refresh, {})).token).catch(() => undefined)
}

const statusOf = (error: Error | DetailedError): number | null => ('originalResponse' in error ? (error.originalResponse?.getStatus() ?? null) : null)

/** So much goes by one request, without asking first how much is there. */
export const sentAtOnceBytes = 2 ** 20

/** Sends a small file that was just announced. @returns whether all of it is there; where it is not, {@link startUpload} goes on */
export async function sendAtOnce(path: string, file: File): Promise<boolean> {
  try {
    const { status } = await fetch(path, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${readToken() ?? ''}`,
        'tus-resumable': '1.0.0',
        'upload-offset': '0',
        'content-type': 'application/offset+octet-stream',
      },
      body: file,
    })
    return status === 204
  } catch {
    return false
  }
}

/**
 * Sends a file to where what was announced takes it (tus 1.0.0), from where it was: the server says how much is
 * there. Resolves when it is on its way.
 * @param id of what was announced
 * @param onFail told where the line broke for good, until somebody says that it is to go on
 */
export async function startUpload(id: string, path: string, file: File, onDone: () => void, onFail?: (error: Error) => void): Promise<void> {
  if (entries.has(id)) return
  const { Upload } = await import('tus-js-client')
  const upload = new Upload(file, {
    uploadUrl: new URL(path, location.origin).href,
    chunkSize: pieceBytes,
    retryDelays: retryMs,
    // What a file belongs to is known by that.
    storeFingerprintForResuming: false,
    onBeforeRequest: (sent) => sent.setHeader('authorization', `Bearer ${readToken() ?? ''}`),
    onShouldRetry: (error) => {
      const status = statusOf(error)
      if (status === 401) renew()
      return status === null || status === 401 || status === 409 || status === 423 || status === 429 || status >= 500
    },
    onProgress: (sentBytes) => {
      const entry = entries.get(id)
      if (entry === undefined) return
      entry.samples = withSample(entry.samples, { atMs: performance.now(), bytes: sentBytes })
      const pace = paceOf(entry.samples, file.size)
      change(id, { sentBytes, bytesPerSecond: pace?.bytesPerSecond ?? null, leftMs: pace?.leftMs ?? null })
    },
    onError: (error) => {
      change(id, { state: 'failed', bytesPerSecond: null, leftMs: null })
      onFail?.(error)
    },
    onSuccess: () => {
      forgetUpload(id)
      onDone()
    },
  })
  const place = location.pathname + location.search
  entries.set(id, {
    upload,
    name: file.name,
    place,
    samples: [],
    shown: { state: 'running', sentBytes: 0, totalBytes: file.size, bytesPerSecond: null, leftMs: null },
  })
  addEventListener('beforeunload', askBeforeLeaving)
  tell()
  upload.start()
}

export function pauseUpload(id: string): void {
  const entry = entries.get(id)
  if (entry === undefined) return
  change(id, { state: 'paused', bytesPerSecond: null, leftMs: null })
  void entry.upload.abort()
}

export function resumeUpload(id: string): void {
  const entry = entries.get(id)
  if (entry === undefined) return
  entry.samples = []
  change(id, { state: 'running' })
  entry.upload.start()
}

/** It is over, or what it was for is gone. */
export function forgetUpload(id: string): void {
  void entries.get(id)?.upload.abort()
  entries.delete(id)
  if (entries.size === 0) removeEventListener('beforeunload', askBeforeLeaving)
  tell()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Null where this tab sends nothing for it. */
export const useUpload = (id: string): LocalUpload | null => useSyncExternalStore(subscribe, () => entries.get(id)?.shown ?? null)

/** All that this tab sends, whatever for. */
export const useUploads = (): readonly OwnUpload[] => useSyncExternalStore(subscribe, () => all)
