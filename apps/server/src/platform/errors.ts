import { errors, fillText, type ErrorName } from '@zhisuan/contract/errors'

/**
 * A refusal from the catalogue. Throw it anywhere below a handler; the answer's status, code and
 * Chinese text come from the catalogue, so nothing else can be answered.
 */
export class Refusal extends Error {
  readonly refusal: ErrorName
  readonly values: Readonly<Record<string, string | number>>
  /** Fields of the request that are at fault, for forms. */
  readonly fields: readonly { field: string; message: string }[] | undefined

  constructor(
    refusal: ErrorName,
    options: { values?: Record<string, string | number>; field?: string; fields?: readonly { field: string; message: string }[]; cause?: unknown } = {},
  ) {
    super(fillText(errors[refusal].text, options.values), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Refusal'
    this.refusal = refusal
    this.values = options.values ?? {}
    this.fields = options.fields ?? (options.field === undefined ? undefined : [{ field: options.field, message: this.message }])
  }
}

/** Throws `notFound` for what the actor’s scope does not show: absent and not yours look the same. */
export function found<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Refusal('notFound')
  return value
}
