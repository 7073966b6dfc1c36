import { EngineError } from '../errors.ts'

/** It has been asked too much and says when to come again (RFC 9110, `Retry-After`). */
export class RegistrySlow extends EngineError {
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super('busy', message, { status: 429 })
    this.retryAfterMs = retryAfterMs
  }
}

/** In seconds or as a date; a minute where it does not say, an hour at most. */
export function retryAfterMs(header: string | undefined, now = Date.now()): number {
  const seconds = Number(header)
  const ms = header === undefined ? 60_000 : Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - now
  return Math.min(Math.max(Number.isFinite(ms) ? ms : 60_000, 1_000), 3_600_000)
}

/** What an answer that is no success means. */
export function registryError(what: string, status: number, headers: Readonly<Record<string, string | string[] | undefined>>, body: Buffer): EngineError {
  const words = `${what}: ${status} ${wordsOf(body)}`.trim()
  if (status === 429) return new RegistrySlow(words, retryAfterMs([headers['retry-after']].flat()[0]))
  const kind =
    status === 401 || status === 403
      ? 'unauthorized'
      : status === 404
        ? 'not_found'
        : status === 405
          ? 'unsupported'
          : status === 400 || status === 422
            ? 'invalid'
            : status === 409
              ? 'conflict'
              : status === 507
                ? 'exhausted'
                : status === 502 || status === 503 || status === 504
                  ? 'unreachable'
                  : 'failed'
  return new EngineError(kind, words, { status })
}

/** `{"errors":[{"code","message"}]}` (distribution-spec, "Error Codes"), or the beginning of whatever came. */
function wordsOf(body: Buffer): string {
  const text = body.subarray(0, 4_096).toString('utf8')
  try {
    const { errors } = JSON.parse(text) as { errors?: { code?: unknown; message?: unknown }[] }
    if (Array.isArray(errors))
      return errors
        .map(({ code, message }) => `${String(code)} ${String(message)}`)
        .join('; ')
        .slice(0, 500)
  } catch {
    // No JSON.
  }
  return text.slice(0, 200)
}
