import type { ErrorName } from '@zhisuan/contract/errors'
import { Refusal } from './errors.ts'

/** What one person may hold open at one server at once: far more than all the windows of a browser do. */
export const heldMax = {
  /** Questions that are answered once something changes. */
  longPolls: 64,
  /** Of each way: terminals and followed logs; files on their way; answers in lines. */
  streams: 32,
  /** Files on their way to all of whom nobody knows who they are, together. */
  visitors: 512,
} as const

const refusals = { longPolls: 'longPollsExceeded', streams: 'streamsExceeded', visitors: 'tooMuchAtOnce' } as const satisfies Record<
  keyof typeof heldMax,
  ErrorName
>

/** Counts what each person holds open. */
export function createHeld(what: keyof typeof heldMax) {
  const counts = new Map<string, number>()
  const refuse = (userId: string): void => {
    if ((counts.get(userId) ?? 0) >= heldMax[what]) throw new Refusal(refusals[what], { values: { max: heldMax[what] } })
  }
  return {
    refuse,
    /**
     * @returns gives the place free, once
     * @throws Refusal 90023, 90024, 90027
     */
    take(userId: string): () => void {
      refuse(userId)
      counts.set(userId, (counts.get(userId) ?? 0) + 1)
      let taken = true
      return () => {
        if (!taken) return
        taken = false
        const left = (counts.get(userId) ?? 1) - 1
        if (left === 0) counts.delete(userId)
        else counts.set(userId, left)
      }
    },
  }
}
