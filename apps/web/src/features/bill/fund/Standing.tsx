import type { Wallet } from '@zhisuan/contract/bill/account'
import { toMinor } from '@zhisuan/contract/bill/money'
import { useTranslation } from '../../../i18n.ts'
import { Amount } from './Amount.tsx'
import './fund.css'

const parts = ['funds', 'held', 'credit_left', 'credit_used', 'arrears'] as const
type Part = (typeof parts)[number]

/** What a balance is made of, as a picture and in figures. */
export function Standing({ wallet }: { readonly wallet: Wallet }) {
  const { t } = useTranslation('fund')
  const { funds, held, credit_limit, credit_used, arrears, balance, available } = wallet
  const minor: Record<Part, bigint> = {
    funds: toMinor(funds),
    held: toMinor(held),
    credit_left: toMinor(credit_limit) - toMinor(credit_used),
    credit_used: toMinor(credit_used),
    arrears: toMinor(arrears),
  }
  const whole = parts.reduce((sum, part) => sum + minor[part], 0n)
  // Of a thousand: money itself is never a number.
  const width = (part: Part): number => (whole === 0n ? 0 : Number((minor[part] * 1000n) / whole) / 10)
  return (
    <>
      <dl className="bf-main">
        <div>
          <dt>{t('wallet.balance')}</dt>
          <dd className="bf-big">
            <Amount value={balance} />
          </dd>
        </div>
        <div>
          <dt>{t('wallet.available')}</dt>
          <dd className="bf-big">
            <Amount value={available} />
          </dd>
        </div>
      </dl>
      <div className="bf-bar" aria-hidden="true">
        {parts.map((part) => minor[part] > 0n && <span key={part} className={`bf-part bf-${part}`} style={{ flexGrow: Math.max(width(part), 1) }} />)}
      </div>
      <dl className="bf-parts">
        <Line part="funds" value={funds} />
        <Line part="held" value={held} />
        <div>
          <dt>
            <span className="bf-key bf-credit_used" aria-hidden="true" />
            {t('wallet.credit_used')}
          </dt>
          <dd>
            <Amount value={credit_used} part /> / <Amount value={credit_limit} part />
          </dd>
          <dd className="zs-soft">{t('wallet.note.credit_used')}</dd>
        </div>
        <Line part="arrears" value={arrears} />
      </dl>
    </>
  )
}

function Line({ part, value }: { readonly part: 'funds' | 'held' | 'arrears'; readonly value: string }) {
  const { t } = useTranslation('fund')
  return (
    <div>
      <dt>
        <span className={`bf-key bf-${part}`} aria-hidden="true" />
        {t(`wallet.${part}`)}
      </dt>
      <dd>
        <Amount value={value} part />
      </dd>
      <dd className="zs-soft">{t(`wallet.note.${part}`)}</dd>
    </div>
  )
}
