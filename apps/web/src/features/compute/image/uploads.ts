import { computeImages } from '@zhisuan/contract/compute/image'
import { useSyncExternalStore } from 'react'
import { urlOf } from '../../../api/client.ts'
import { readToken } from '../../../api/cookies.ts'
import { paceOf, withSample, type Sample } from '../../../kit/uploadPace.ts'

/** A file on its way from this tab. It goes on whatever page of the console is shown. */
export interface CloudUpload {
  readonly state: 'running' | 'failed'
  readonly sentBytes: number
  readonly totalBytes: number
  readonly bytesPerSecond: number | null
  readonly leftMs: number | null
}

interface Entry {
  readonly request: XMLHttpRequest
  shown: CloudUpload
  samples: readonly Sample[]
}
const entries = new Map<string, Entry>()
const listeners = new Set<() => void>()
const tell = (): void => listeners.forEach((listener) => listener())

/** Leaving ends the uploads of this tab: the browser asks first. */
const askBeforeLeaving = (event: BeforeUnloadEvent): void => {
  if ([...entries.values()].some(({ shown }) => shown.state === 'running')) event.preventDefault()
}

/**
 * Sends a file to an announced image in one request, through to the cloud; one that breaks off is sent again from the
 * beginning. `fetch` would not tell how much has gone.
 * @param onEnd whether it ended well or not: the image is another now
 */
export function startUpload(of: { readonly cloudId: string; readonly imageId: string }, file: File, onEnd: () => void): void {
  const { cloudId, imageId } = of
  if (entries.get(imageId)?.shown.state === 'running') return
  const request = new XMLHttpRequest()
  const entry: Entry = { request, samples: [], shown: { state: 'running', sentBytes: 0, totalBytes: file.size, bytesPerSecond: null, leftMs: null } }
  entries.set(imageId, entry)
  addEventListener('beforeunload', askBeforeLeaving)
  request.upload.addEventListener('progress', ({ loaded }) => {
    entry.samples = withSample(entry.samples, { atMs: performance.now(), bytes: loaded })
    const pace = paceOf(entry.samples, file.size)
    entry.shown = { ...entry.shown, sentBytes: Math.min(loaded, file.size), bytesPerSecond: pace?.bytesPerSecond ?? null, leftMs: pace?.leftMs ?? null }
    tell()
  })
  request.addEventListener('loadend', () => {
    if (entries.get(imageId) !== entry) return
    if (request.status >= 200 && request.status < 300) forgetUpload(imageId)
    else entry.shown = { ...entry.shown, state: 'failed', bytesPerSecond: null, leftMs: null }
    tell()
    onEnd()
  })
  request.open('PUT', `${urlOf(computeImages.get, { cloud_id: cloudId, id: imageId })}/file`)
  request.setRequestHeader('authorization', `Bearer ${readToken() ?? ''}`)
  request.setRequestHeader('content-type', 'application/octet-stream')
  request.send(file)
  tell()
}

/** It is over, given up, or its image is gone. */
export function forgetUpload(imageId: string): void {
  const entry = entries.get(imageId)
  entries.delete(imageId)
  entry?.request.abort()
  if (entries.size === 0) removeEventListener('beforeunload', askBeforeLeaving)
  tell()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Null where this tab sends nothing for the image. */
export const useUpload = (imageId: string): CloudUpload | null => useSyncExternalStore(subscribe, () => entries.get(imageId)?.shown ?? null)
