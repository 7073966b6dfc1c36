import type { ErrorName } from '@zhisuan/contract/errors'
import { isEngineError, type EngineErrorKind } from '@zhisuan/engines/errors'
import { Refusal } from '../../platform/errors.ts'

/** Asks an engine; what it says of this one question is told as these refusals, anything else as always. */
export async function refusedAs<T>(as: Partial<Record<EngineErrorKind, ErrorName>>, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const name = isEngineError(error) ? as[error.kind] : undefined
    throw name === undefined ? error : new Refusal(name, { cause: error })
  }
}
