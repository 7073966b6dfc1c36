import type { StandingState } from '@zhisuan/contract/bill/arrears'
import { useTranslation } from '../../../i18n.ts'
import { StatusTag, type StatusTone } from '../../../kit/StatusTag.tsx'

export const standingTones: Readonly<Record<StandingState, StatusTone>> = { normal: 'good', low: 'warning', arrears: 'bad', suspended: 'bad' }

/** How an organisation stands with its account. Needs the messages of `arrears`. */
export function StandingTag({ state }: { readonly state: StandingState }) {
  const { t } = useTranslation('arrears')
  return <StatusTag tone={standingTones[state]}>{t(`state.${state}`)}</StatusTag>
}
