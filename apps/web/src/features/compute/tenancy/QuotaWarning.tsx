import Alert from 'antd/es/alert'
import { useTranslation } from '../../../i18n.ts'
import { amountText, quotaIn, shortfalls, useQuotas, type MadeIn, type Wants } from './quota.ts'
import './tenancy.css'

/**
 * Says before it is asked for that a quota does not suffice. It warns and keeps nobody back: the cloud decides, and
 * something may have been deleted meanwhile. What cannot be read is left to the cloud.
 */
export function QuotaWarning({ cloudId, place, wants }: { readonly cloudId: string | null; readonly place: MadeIn; readonly wants: Wants }) {
  const { t } = useTranslation('computeTenancy')
  const { data } = useQuotas(cloudId)
  const quota = data === undefined ? null : quotaIn(data, place)
  const short = quota === null ? [] : shortfalls(quota.kinds, wants)
  const name = quota?.name ?? ''
  return (
    <div aria-live="polite">
      {short.length > 0 && (
        <Alert
          type="warning"
          showIcon
          className="zs-above"
          title={name === '' ? t('short.title') : t('short.titleOf', { name })}
          description={
            <>
              <ul className="cq-short">
                {short.map(({ kind, wants: need, left, limit, used }) => (
                  <li key={kind}>
                    {t('short.line', {
                      kind: t(`kinds.${kind}`),
                      wants: amountText(kind, need),
                      left: amountText(kind, left),
                      limit: amountText(kind, limit),
                      used: amountText(kind, used),
                    })}
                  </li>
                ))}
              </ul>
              {t('short.note')}
            </>
          }
        />
      )}
    </div>
  )
}
