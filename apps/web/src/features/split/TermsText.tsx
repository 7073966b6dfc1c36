import type { SplitTerms } from '@zhisuan/contract/split/contract'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { percentOf } from './splitTexts.ts'

/** How a base is shared out, step by step. */
export function TermsText({ terms }: { readonly terms: SplitTerms }) {
  const { t } = useTranslation('split')
  return (
    <ul className="zs-list">
      {terms.steps.map(({ above, parts }) => (
        <li key={above}>
          {terms.steps.length > 1 && `${t('above', { amount: format.money(above) })}：`}
          {terms.parties.map(({ name }, index) => t('percent', { name, percent: percentOf(parts[index] ?? 0) })).join('，')}
        </li>
      ))}
    </ul>
  )
}
