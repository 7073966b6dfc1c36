import { expect } from 'vitest'
import { EngineError, type EngineErrorKind } from '../errors.ts'

/** Expects a call to end with an EngineError of one of these kinds, and with nothing else. */
export async function rejects(call: Promise<unknown>, ...kinds: EngineErrorKind[]): Promise<void> {
  const error = await call.then(
    (value) => ({ succeeded: value }),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(EngineError)
  expect(kinds).toContain((error as EngineError).kind)
}
