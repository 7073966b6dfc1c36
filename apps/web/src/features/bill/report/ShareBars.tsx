import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import * as format from '../../../kit/format.ts'
import './report.css'

export interface Share {
  readonly key: string
  readonly name: string
  readonly note?: string
  /** Decimal text in yuan. */
  readonly amount: string
  readonly to?: string
}

const shown = 8

/** What of a sum is whose, the greatest first. */
export function ShareBars({ title, shares, total }: { readonly title: string; readonly shares: readonly Share[]; readonly total: string }) {
  const { t } = useTranslation('report')
  const whole = Number(total)
  const greatest = Math.max(...shares.map(({ amount }) => Number(amount)), 0)
  return (
    <section className="zs-card" aria-label={title}>
      <div className="br-head">
        <h2 className="zs-title">{title}</h2>
      </div>
      {shares.length === 0 ? (
        <p className="zs-soft">{t('shares.none')}</p>
      ) : (
        <ul className="zs-list br-shares">
          {shares.slice(0, shown).map(({ key, name, note, amount, to }) => (
            <li key={key}>
              <div className="zs-between br-share">
                <span title={name}>
                  {to === undefined ? name : <Link to={to}>{name}</Link>}
                  {note !== undefined && <span className="zs-soft"> {note}</span>}
                </span>
                <span className="zs-number">
                  {format.exactMoney(amount)} <span className="zs-soft">{whole > 0 ? format.percent(Number(amount) / whole) : ''}</span>
                </span>
              </div>
              <div className="br-bar" aria-hidden="true">
                <div style={{ inlineSize: `${greatest > 0 ? (Number(amount) / greatest) * 100 : 0}%` }} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {shares.length > shown && <p className="zs-soft">{t('shares.rest', { count: shares.length - shown })}</p>}
    </section>
  )
}
