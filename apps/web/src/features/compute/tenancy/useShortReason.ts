import { useTranslation } from '../../../i18n.ts'
import { amountText, quotaIn, shortfalls, useQuotas, type MadeIn, type Wants } from './quota.ts'

/** Why something does not fit what is left of a quota, of one thing among several that may be chosen; null where it does, and where nobody knows. */
export function useShortReason(cloudId: string | null, place: MadeIn): (wants: Wants) => string | null {
  const { t } = useTranslation('computeTenancy')
  const { data } = useQuotas(cloudId)
  const quota = data === undefined ? null : quotaIn(data, place)
  return (wants) => {
    const [short] = quota === null ? [] : shortfalls(quota.kinds, wants)
    return short === undefined ? null : t('short.brief', { kind: t(`kinds.${short.kind}`), left: amountText(short.kind, short.left) })
  }
}
