import type { BillingPeriod } from '@zhisuan/contract/bill/catalogue'
import type { Meter } from '@zhisuan/contract/bill/meter'
import { toMinor } from '@zhisuan/contract/bill/money'
import { useId, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { NumberInput } from '../../../kit/NumberInput.tsx'
import { notWhole } from '../../../kit/rules.ts'
import { costOf, unitOf, type Tiers } from './catalogueText.ts'
import './catalogue.css'
import * as format from '../../../kit/format.ts'

/** Graduated prices as steps, each as high as its price, with a quantity to try them on. */
export function TierPicture({
  name,
  meter,
  period,
  tiers,
}: {
  readonly name: string
  readonly meter: Meter
  readonly period: BillingPeriod
  readonly tiers: Tiers
}) {
  const { t } = useTranslation('catalogue')
  const id = useId()
  const unit = unitOf(t, meter)
  const [units, setUnits] = useState<number | null>((tiers.at(-1)?.above ?? 0) + 1)
  const highest = tiers.reduce((most, { price }) => (toMinor(price) > most ? toMinor(price) : most), 1n)
  const wrong = notWhole({ min: 0 }, units)
  const { parts, amount } = costOf(tiers, wrong === null ? (units ?? 0) : 0)
  return (
    <div className="bc-tiers">
      <table>
        <caption className="zs-hidden">{t('tiers.caption', { name, period: t(`period.${period}`) })}</caption>
        <thead className="zs-hidden">
          <tr>
            <th scope="col">{t('tiers.range', { unit })}</th>
            <th scope="col">{t('tiers.price')}</th>
          </tr>
        </thead>
        <tbody>
          {tiers.map(({ above, price }, at) => {
            const next = tiers[at + 1]?.above
            return (
              <tr key={above}>
                <th scope="row" className="zs-number">
                  {next === undefined ? (above === 0 ? t('tiers.any') : t('tiers.beyond', { from: above })) : t('tiers.upTo', { from: above, to: next })} {unit}
                </th>
                <td className="zs-number">
                  {/* Ten-thousandths of the highest are as fine as anybody sees. */}
                  <span className="bc-tier-bar" style={{ inlineSize: `${Number((toMinor(price) * 10_000n) / highest) / 100}%` }} aria-hidden="true" />
                  <span>{format.exactMoney(price)}</span>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <p className="zs-soft bc-small">{t('tiers.note')}</p>
      <div className="zs-line zs-line-narrow">
        <label htmlFor={id}>{t('tiers.example')}</label>
        <NumberInput
          id={id}
          size="small"
          min={0}
          value={units}
          onChange={setUnits}
          aria-label={`${t('tiers.example')} ${t('tiers.quantity', { unit })}`}
          suffix={unit}
        />
        <output htmlFor={id} className="zs-number bc-break">
          {wrong ??
            t('tiers.amount', {
              parts: parts.map((part) => t('tiers.part', part)).join(' + ') || '0',
              amount: format.exactMoney(amount),
              period: t(`per.${period}`),
            })}
        </output>
      </div>
    </div>
  )
}
