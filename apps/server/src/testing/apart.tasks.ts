import { Refusal } from '../platform/errors.ts'

/** What a process apart may do, good and bad. */
export const tasks = {
  double: (one: number) => one * 2,
  refuse: (field: string): never => {
    throw new Refusal('composeInvalid', { field, values: { line: 3, reason: 'x' } })
  },
  fail: (text: string): never => {
    throw new Error(text)
  },
  endless: (): never => {
    for (;;);
  },
  hoard: (): never => {
    const kept: string[][] = []
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => `${index}`))
  },
}
