import type { FastifyRequest } from 'fastify'
import { readSignature, signatureBesideToken, type RequestSignature } from './signature.ts'

/** What a request brings to say whose it is. */
export type Credential = { readonly token: string } | { readonly signature: RequestSignature }

/**
 * One of them, or none.
 * @throws Refusal 91207 for a signature that could never be right, or that comes beside a token
 */
export function readCredential(request: Pick<FastifyRequest, 'headers' | 'method' | 'protocol' | 'host' | 'raw'>): Credential | null {
  const { authorization, signature, 'signature-input': input } = request.headers
  if (signature === undefined && input === undefined) return authorization?.startsWith('Bearer ') === true ? { token: authorization.slice(7) } : null
  if (authorization !== undefined) throw signatureBesideToken()
  return {
    signature: readSignature({
      method: request.method,
      scheme: request.protocol,
      authority: request.host,
      target: request.raw.url ?? '',
      rawHeaders: request.raw.rawHeaders,
    }),
  }
}
