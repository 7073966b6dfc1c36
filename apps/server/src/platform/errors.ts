import { errors, fillText, type ErrorName } from '@zhisuan/contract/errors'
import type { EngineRequest, RefusedByPolicy } from '@zhisuan/contract/problem'

/**
 * A refusal from the catalogue. Throw it anywhere below a handler; the answer's status, code and
 * Chinese text come from the catalogue, so nothing else can be answered.
 */
export class Refusal extends Error {
  readonly refusal: ErrorName
  readonly values: Readonly<Record<string, string | number>>
  /** Fields of the request that are at fault, for forms. */
  readonly fields: readonly { field: string; message: string }[] | undefined
  /** What an engine of the asker's own said, in its own words: beside the text, for who looks closer. */
  readonly detail: string | undefined
  /** Why policies refused it. */
  readonly refused: RefusedByPolicy | undefined
  /** The request of a cloud's service that failed. */
  readonly engine: EngineRequest | undefined

  constructor(
    refusal: ErrorName,
    options: {
      values?: Record<string, string | number>
      field?: string
      fields?: readonly { field: string; message: string }[]
      detail?: string | undefined
      engine?: EngineRequest
      refused?: RefusedByPolicy
      message?: string | undefined
      cause?: unknown
    } = {},
  ) {
    // Of one that was recorded before, what was filled in is known only as its text.
    super(options.message ?? fillText(errors[refusal].text, options.values), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Refusal'
    this.refusal = refusal
    this.values = options.values ?? {}
    this.detail = options.detail
    this.engine = options.engine
    this.refused = options.refused
    this.fields = options.fields ?? (options.field === undefined ? undefined : [{ field: options.field, message: this.message }])
  }
}

/** Throws `notFound` for what the actor’s scope does not show: absent and not yours look the same. */
export function found<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Refusal('notFound')
  return value
}

/**
 * What may be done in which state (contract, can.ts): `refuseUnless(vmCan[action], vm)`.
 * @param field names the object in the request, where it is not the one that the path names
 * @throws Refusal 90010
 */
export function refuseUnless(allowed: readonly string[], { status }: { readonly status: string }, field?: string): void {
  if (!allowed.includes(status)) throw new Refusal('stateForbids', field === undefined ? {} : { field })
}
