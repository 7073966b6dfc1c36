import { createApart } from '../../../platform/apart.ts'
import { checkCompose, prepare, resolved, type ComposeTerms } from './compose.ts'

/** What is read in a process of its own: whoever sends a file decides how long that takes. */
export const tasks = {
  check: (wish: { text: string; terms: ComposeTerms; declared: ReadonlySet<string> | null }) => checkCompose(wish.text, wish.terms, wish.declared),
  prepare: (wish: { text: string; values: ReadonlyMap<string, string>; terms: ComposeTerms }) => prepare(wish.text, wish.values, wish.terms),
  resolve: (wish: { text: string; values: ReadonlyMap<string, string>; terms: ComposeTerms }) => resolved(wish.text, wish.values, wish.terms),
}

export type Composer = ReturnType<typeof createComposer>

/** Reads compose files while others are answered. */
export function createComposer() {
  const { ask, close } = createApart<typeof tasks>(new URL('compose.process.ts', import.meta.url))
  return {
    /** `checkCompose`, with its problems. */
    check: (text: string, terms: ComposeTerms, declared: ReadonlySet<string> | null = null) => ask('check', { text, terms, declared }),
    /** `prepare`. @throws Refusal as it does */
    prepare: (text: string, values: ReadonlyMap<string, string>, terms: ComposeTerms) => ask('prepare', { text, values, terms }),
    /** `resolved`. @throws Refusal as it does */
    resolve: (text: string, values: ReadonlyMap<string, string>, terms: ComposeTerms) => ask('resolve', { text, values, terms }),
    close,
  }
}
