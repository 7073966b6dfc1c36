import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { FileUpload } from '@zhisuan/contract/files/file'

const headersAt = (token: string, offset: number) => ({
  authorization: `Bearer ${token}`,
  'tus-resumable': '1.0.0',
  'upload-offset': String(offset),
  'content-type': 'application/offset+octet-stream',
})

/** One piece of an upload, by tus 1.0.0. */
export const sendPiece = (
  url: string,
  token: string,
  upload: Pick<FileUpload, 'upload_path'>,
  offset: number,
  body: Uint8Array<ArrayBuffer>,
): Promise<Response> => fetch(`${url}${upload.upload_path}`, { method: 'PATCH', body, headers: headersAt(token, offset) })

/** The same, of which only the first bytes are sent before the connection breaks off. */
export async function breakOff(url: string, token: string, upload: Pick<FileUpload, 'upload_path'>, offset: number, bytes: Uint8Array): Promise<void> {
  const sending = request(`${url}${upload.upload_path}`, { method: 'PATCH', headers: { ...headersAt(token, offset), 'content-length': bytes.length * 2 } })
  sending.on('error', () => undefined)
  await new Promise((resolve) => sending.write(bytes, resolve))
  // Written is not received.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const closed = new Promise((resolve) => sending.once('close', resolve))
  sending.destroy()
  await closed
}

/** One piece that comes slowly: its bytes are given one after the other. */
export function sendSlowly(url: string, token: string, upload: Pick<FileUpload, 'upload_path'>, offset: number, length: number) {
  const sending = request(`${url}${upload.upload_path}`, { method: 'PATCH', headers: { ...headersAt(token, offset), 'content-length': length } })
  return {
    give: (bytes: Uint8Array): Promise<unknown> => new Promise((resolve) => sending.write(bytes, resolve)),
    /** Null where the connection was closed before it was read. */
    status: new Promise<number | null>((resolve) => {
      sending.once('response', (response) => {
        response.resume()
        resolve(response.statusCode ?? null)
      })
      sending.on('error', () => resolve(null))
    }),
  }
}

/** Where an upload goes on. */
export async function offsetOf(url: string, token: string, upload: Pick<FileUpload, 'upload_path'>): Promise<number> {
  const response = await fetch(`${url}${upload.upload_path}`, { method: 'HEAD', headers: { authorization: `Bearer ${token}`, 'tus-resumable': '1.0.0' } })
  return Number(response.headers.get('upload-offset'))
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
