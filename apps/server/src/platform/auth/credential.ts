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
  if (signature === undefined && input === undefined) return bearerOf(authorization)
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

/** Schemes are written in any case (RFC 9110, 11.1). */
function bearerOf(authorization: string | undefined): { readonly token: string } | null {
  const token = authorization === undefined ? undefined : /^bearer +(\S.*)$/i.exec(authorization)?.[1]
  return token === undefined ? null : { token }
}
