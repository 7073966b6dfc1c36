import { pause } from '../api/pause.ts'
import { forgetUpload, startUpload } from './uploads.ts'

/** How often it is asked whether what was sent is verified. */
const lookMs = 400

/**
 * Sends a file to where what was announced takes it, and waits until it is verified there.
 * @param look at what became of it
 * @throws Error where the line broke for good, or what came was not what was announced
 */
export async function sendFile(
  upload: { readonly id: string; readonly upload_path: string },
  file: File,
  look: () => Promise<{ readonly status: string; readonly error?: string | null }>,
): Promise<void> {
  // Of one of no bytes nothing is sent.
  if (file.size > 0)
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => {
        forgetUpload(upload.id)
        reject(error)
      }
      startUpload(upload.id, upload.upload_path, file, resolve, failed).catch(failed)
    })
  for (;;) {
    const { status, error } = await look()
    if (status === 'done') return
    if (status === 'failed') throw new Error(error ?? file.name)
    await pause(lookMs, new AbortController().signal)
  }
}
