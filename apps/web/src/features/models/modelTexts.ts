import type { Model } from '@zhisuan/contract/models/model'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import { useTranslation } from '../../i18n.ts'

export const modelTones = { draft: 'rest', review: 'busy', published: 'good', rejected: 'bad' } as const satisfies Record<Model['status'], StatusTone>

/** 7000000000 is 7B, as the field writes it. */
export function parametersText(count: number): string {
  for (const [unit, size] of [
    ['T', 1e12],
    ['B', 1e9],
    ['M', 1e6],
    ['K', 1e3],
  ] as const)
    if (count >= size) return `${Number((count / size).toFixed(2))}${unit}`
  return String(count)
}

/** What a value of a facet is called: most are the field's own words, and stay. */
export function useTerms(): (facet: string, value: string) => string {
  const { t } = useTranslation('models')
  // Which there are is not known to the types: others stay as the field writes them.
  return (facet, value) => t(`term.${facet}.${value}` as 'title', { defaultValue: value })
}
