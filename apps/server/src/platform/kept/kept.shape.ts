import type { KeptProblem, KeptState } from '@zhisuan/contract/agent/kept'
import { keptReasonTexts, keptTexts, nodeTexts } from '@zhisuan/contract/texts'
import { fillText } from '@zhisuan/contract/errors'
import type { KeptStatus } from './kept.store.ts'

const wordsShown = 5
const reasonLimit = 2_000

/** What is so of one that no operation is at; null: its node does not have it. */
export function statusOf(state: KeptState | null): { status: KeptStatus; reason: string | null } {
  if (state === null || state.process.state === 'none') return { status: 'crashed', reason: keptTexts.missing }
  switch (state.process.state) {
    case 'running':
      if (state.health.state === 'unhealthy') return { status: 'unhealthy', reason: said(state, state.health.error) }
      return { status: state.health.state === 'healthy' ? 'running' : 'starting', reason: null }
    case 'stopping':
    case 'stopped':
      return { status: 'stopped', reason: null }
    case 'waiting':
    case 'ended':
    case 'failed':
      return { status: 'crashed', reason: said(state, state.process.error ?? endOf(state)) }
  }
}

/** How it ended, and what it said last. */
export function whyNot(state: KeptState): string {
  return said(state, state.process.error ?? (state.process.state === 'running' ? state.health.error : endOf(state)))
}

const endOf = ({ process: { exit_code, exit_signal } }: KeptState): string =>
  exit_signal !== null
    ? fillText(keptTexts.signal, { signal: exit_signal })
    : exit_code !== null
      ? fillText(keptTexts.exit, { code: exit_code })
      : keptTexts.exitUnknown

const said = ({ last_words }: KeptState, why: string | null): string =>
  [why ?? keptTexts.exitUnknown, ...last_words.slice(-wordsShown)].join('\n').slice(0, reasonLimit)

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const
const bytes = (size: number): string => {
  const step = size <= 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(size) / 10))
  return `${Number((size / 1_024 ** step).toFixed(1))} ${units[step]}`
}

/** Why it would not run there, a text each. */
export const problemTexts = (problems: readonly KeptProblem[]): string[] =>
  problems.map(({ reason, values }) => {
    const filled = Object.entries(values).map(([name, value]) => [name, name.endsWith('_bytes') && typeof value === 'number' ? bytes(value) : value] as const)
    return fillText(keptReasonTexts[reason], { ...Object.fromEntries(filled), ...(values['by'] === '' && { by: nodeTexts.otherProgram }) })
  })
