import Progress from 'antd/es/progress'
import type { QuotaKind } from '@zhisuan/contract/compute/project'
import { useTranslation } from '../../../i18n.ts'
import { levelOf, shareOf } from '../../../kit/quotaLines.ts'
import { amountText, type Kinds } from './quota.ts'
import './tenancy.css'

const colours = { fine: 'var(--brand)', near: 'var(--warning)', full: 'var(--bad)', over: 'var(--bad)' } as const

/** What is used of each kind and how much there may be, as bars. */
export function QuotaBars({ kinds, shown }: { readonly kinds: Kinds; readonly shown: readonly QuotaKind[] }) {
  return (
    <ul className="cq-bars">
      {shown.map((kind) => {
        const known = kinds[kind]
        return known === undefined ? null : <Bar key={kind} kind={kind} {...known} />
      })}
    </ul>
  )
}

function Bar({ kind, used, limit }: { readonly kind: QuotaKind; readonly used: number; readonly limit: number | null }) {
  const { t } = useTranslation('computeTenancy')
  const level = levelOf({ used, limit })
  const share = shareOf({ used, limit })
  return (
    <li>
      <div className="cq-bar-head">
        <span>{t(`kinds.${kind}`)}</span>
        {level !== 'fine' && <span className={`cq-${level}`}>{t(`quota.level.${level}`)}</span>}
      </div>
      <Progress aria-hidden percent={(share ?? 0) * 100} showInfo={false} size="small" strokeColor={colours[level]} />
      <div className="zs-name-note zs-number">
        {limit === null
          ? t('quota.usedUnlimited', { used: amountText(kind, used) })
          : t('quota.used', { used: amountText(kind, used), limit: amountText(kind, limit) })}
      </div>
    </li>
  )
}
