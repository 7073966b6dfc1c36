import type { ErrorName } from '@zhisuan/contract/errors'
import pg from 'pg'
import { Refusal } from '../errors.ts'

/** What it means to break rules of the database, such as a unique index: the refusal, and the field at fault. */
type Rules = Readonly<Record<string, ErrorName | readonly [refusal: ErrorName, field: string] | ((cause: unknown) => Error | Promise<Error>)>>

/** Does it; who breaks one of these rules thereby is refused. */
export async function refusing<T>(rules: Rules, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    const broken = cause instanceof pg.DatabaseError && brokenCodes.includes(cause.code ?? '') ? rules[cause.constraint ?? ''] : undefined
    if (broken === undefined) throw cause
    if (typeof broken === 'string') throw new Refusal(broken, { cause })
    if (typeof broken === 'function') throw await broken(cause)
    const [refusal, field] = broken
    throw new Refusal(refusal, { field, cause })
  }
}

/** PostgreSQL's for a unique rule, and for one against overlaps. */
const brokenCodes = ['23505', '23P01']
