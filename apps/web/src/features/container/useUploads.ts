import { useEffect, useRef, useState } from 'react'
import { createUploads, uploadFile, type Upload, type UploadQueue } from './fileUpload.ts'

export interface Uploads extends UploadQueue {
  readonly all: readonly Upload[]
  /** Whether leaving would end one. */
  readonly busy: boolean
}

/** Files on their way into a container from this page. Leaving the page ends them; leaving the console asks first. */
export function useUploads(containerId: string, onArrived: () => void): Uploads {
  const [all, setAll] = useState<readonly Upload[]>([])
  const arrived = useRef(onArrived)
  arrived.current = onArrived
  const [queue] = useState(() =>
    createUploads(
      (path, file, signal, onProgress) => uploadFile({ containerId, path, file, signal, onProgress }),
      (next, one) => {
        setAll(next)
        if (one) arrived.current()
      },
    ),
  )
  const busy = all.some(({ state }) => state === 'waiting' || state === 'running')
  useEffect(() => {
    if (!busy) return undefined
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [busy])
  useEffect(() => () => queue.stop(), [queue])
  return { all, busy, ...queue }
}
