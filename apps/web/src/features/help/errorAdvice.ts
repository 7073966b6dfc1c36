import { errorByCode, type ErrorEntry } from '@zhisuan/contract/errors'

export interface ErrorAdvice {
  readonly entry: ErrorEntry
  readonly advice: string
}

/**
 * The body of an `error-codes` block: a code and what to do about it in each line. Text and status
 * come from the catalogue, so that an article cannot say something else than the server.
 */
export const readErrorAdvice = (block: string): ErrorAdvice[] =>
  block
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const match = /^(\d+)\s+(.+)$/.exec(line.trim())
      const entry = match === null ? undefined : errorByCode.get(Number(match[1]))
      if (entry === undefined) throw new Error(`no error of the catalogue: ${line}`)
      return { entry, advice: match?.[2] ?? '' }
    })
