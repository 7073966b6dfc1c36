import type { IncomingHttpHeaders } from 'node:http'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import { Refusal } from '../errors.ts'
import { problemOf, toRefusal } from './problems.ts'

/**
 * What the protocol asks of a request, said in our words before it is handed on: tus's own are English, and none of the
 * catalogue. @throws Refusal 90029, 90030, 90003
 */
export function refuseMisplaced(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  at: { offset: number; size: number },
): void {
  if (headers['tus-resumable'] !== '1.0.0') throw new Refusal('uploadHeadersInvalid', { values: { header: 'Tus-Resumable' } })
  const { 'upload-length': length, 'upload-offset': offset } = headers
  if (length !== undefined && length !== String(at.size)) throw new Refusal('uploadHeadersInvalid', { values: { header: 'Upload-Length' } })
  if (method !== 'PATCH') return
  if (typeof offset !== 'string' || !/^\d{1,15}$/.test(offset)) throw new Refusal('uploadHeadersInvalid', { values: { header: 'Upload-Offset' } })
  if (Number(offset) !== at.offset) throw new Refusal('uploadOffsetMismatch', { values: { bytes: at.offset } })
  if (Number(headers['content-length'] ?? 0) > at.size - at.offset) throw new Refusal('bodyTooLarge')
}

/** What each status of tus is to the person who sends. */
const refusals: Readonly<Record<number, ErrorName>> = { 404: 'notFound', 409: 'changedMeanwhile', 410: 'notFound', 413: 'bodyTooLarge' }

/** What only the protocol finds out keeps its status, by which clients know what to do. */
export async function tusRefused(
  request: Request,
  error: Error | { readonly status_code: number; readonly body: string },
): Promise<{ status_code: number; body: string }> {
  const known = 'status_code' in error && error.status_code < 500 ? new Refusal(refusals[error.status_code] ?? 'requestInvalid') : null
  const refusal = known ?? toRefusal('status_code' in error ? new Error(error.body) : error)
  const status = known !== null && 'status_code' in error ? error.status_code : errors[refusal.refusal].status
  return { status_code: status, body: JSON.stringify(problemOf(refusal, request.headers.get('x-request-id') ?? '')) }
}
