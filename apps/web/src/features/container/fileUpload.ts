import { containers } from '@zhisuan/contract/cis/container'
import { ApiError, noAnswer, request, toApiError } from '../../api/client.ts'

/** A file on its way into a container. */
export interface Upload {
  /** Of the tab's own counting. */
  readonly id: number
  readonly name: string
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly sentBytes: number
  readonly totalBytes: number
  readonly error: ApiError | null
}

/**
 * Writes a file at a path of a container. `fetch` tells nothing of how far it is.
 * @throws ApiError
 */
export async function uploadFile({
  containerId,
  path,
  file,
  signal,
  onProgress,
}: {
  readonly containerId: string
  readonly path: string
  readonly file: Blob
  readonly signal: AbortSignal
  readonly onProgress: (sentBytes: number) => void
}): Promise<void> {
  const link = await request(containers.fileLink, { params: { id: containerId }, body: { how: 'upload', path }, signal })
  await new Promise<void>((resolve, reject) => {
    const sending = new XMLHttpRequest()
    const about = { method: 'PUT', path: link.path }
    const abort = (): void => sending.abort()
    const fail = (code: number): void => reject(new ApiError({ ...about, status: 0, code, message: '' }))
    signal.addEventListener('abort', abort, { once: true })
    sending.onloadend = () => signal.removeEventListener('abort', abort)
    sending.onabort = () => fail(noAnswer.aborted)
    sending.onerror = () => fail(noAnswer.offline)
    sending.upload.onprogress = ({ loaded }) => onProgress(loaded)
    sending.onload = () =>
      sending.status >= 200 && sending.status < 300 ? resolve() : reject(new ApiError({ ...about, ...problemOf(sending.status, sending.responseText) }))
    sending.open('PUT', link.path)
    sending.setRequestHeader('content-type', 'application/octet-stream')
    if (signal.aborted) fail(noAnswer.aborted)
    else sending.send(file)
  })
}

/** What the server said, or that something between us and it answered instead. */
export function problemOf(status: number, text: string): { status: number; code: number; message: string; requestId: string | null } {
  const said = parsed(text)
  const of = (key: string): unknown => (typeof said === 'object' && said !== null ? Reflect.get(said, key) : undefined)
  const [code, message, requestId] = [of('code'), of('message'), of('request_id')]
  return {
    status,
    code: typeof code === 'number' ? code : noAnswer.foreign,
    message: typeof message === 'string' ? message : '',
    requestId: typeof requestId === 'string' ? requestId : null,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** So many files are on their way at once: they share one tunnel to their node. */
const atOnce = 2

export interface UploadQueue {
  readonly add: (files: readonly { readonly path: string; readonly name: string; readonly file: Blob }[]) => void
  readonly cancel: (id: number) => void
  /** Takes those that have ended out of the list. */
  readonly dismiss: () => void
  /** Ends all of them. */
  readonly stop: () => void
}

/**
 * Files on their way into a container, a few at once.
 * @param send how one is sent; what it rejects with is shown beside it
 * @param onChange told with all of them after each change, and when one has arrived
 */
export function createUploads(
  send: (path: string, file: Blob, signal: AbortSignal, onProgress: (sentBytes: number) => void) => Promise<void>,
  onChange: (all: readonly Upload[], arrived: boolean) => void,
): UploadQueue {
  let all: readonly Upload[] = []
  let last = 0
  const sources = new Map<number, { path: string; file: Blob; end: AbortController }>()
  const change = (id: number, next: Partial<Upload>): void => {
    all = all.map((one) => (one.id === id ? { ...one, ...next } : one))
    onChange(all, next.state === 'done')
  }
  const advance = (): void => {
    while (all.filter(({ state }) => state === 'running').length < atOnce) {
      const next = all.find(({ state }) => state === 'waiting')
      const source = next === undefined ? undefined : sources.get(next.id)
      if (next === undefined || source === undefined) return
      change(next.id, { state: 'running' })
      void send(source.path, source.file, source.end.signal, (sentBytes) => change(next.id, { sentBytes })).then(
        () => ended(next.id, { state: 'done', sentBytes: next.totalBytes }),
        (thrown: unknown) => ended(next.id, source.end.signal.aborted ? { state: 'cancelled' } : { state: 'failed', error: toApiError(thrown) }),
      )
    }
  }
  const ended = (id: number, how: Partial<Upload>): void => {
    sources.delete(id)
    change(id, how)
    advance()
  }
  const cancel = (id: number): void => {
    const waits = all.some((one) => one.id === id && one.state === 'waiting')
    sources.get(id)?.end.abort()
    if (waits) ended(id, { state: 'cancelled' })
  }
  return {
    add: (files) => {
      for (const { path, name, file } of files) {
        last++
        sources.set(last, { path, file, end: new AbortController() })
        all = [...all, { id: last, name, state: 'waiting', sentBytes: 0, totalBytes: file.size, error: null }]
      }
      onChange(all, false)
      advance()
    },
    cancel,
    dismiss: () => {
      all = all.filter(({ id }) => sources.has(id))
      onChange(all, false)
    },
    stop: () => {
      for (const id of sources.keys()) cancel(id)
    },
  }
}
