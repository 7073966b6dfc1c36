import { variantText } from '@zhisuan/contract/bill/meter'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { UsageLineShape } from '@zhisuan/contract/bill/consume'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import './report.css'

/** All of it on one line: `(4 核 × 0.063 + 2 核 × 0.05) × 1800 ÷ 3600 × 0.85`. */
export function formulaOf({ formula: { parts, seconds, fraction } }: UsageLineShape, unit: string): string {
  const sum = parts.map(({ units, price }) => `${shortUnits(units)} ${unit} × ${price}`).join(' + ')
  return `${parts.length > 1 ? `(${sum})` : sum} × ${seconds} ÷ 3600 × ${fraction}`
}

/** What a tier costs for an hour; exact, unless a share of a gigabyte has more digits than money. */
const productOf = (units: string, price: string): string => {
  const [whole = '0', decimals = ''] = units.split('.')
  const scale = 10n ** BigInt(decimals.length)
  return toDecimal((BigInt(whole + decimals) * toMinor(price)) / scale)
}
const shortUnits = (units: string): string => units.replace(/^(\d+\.\d{6})\d+$/, '$1…')

/** How an amount was made, step by step, with the price and the discount that held: for a person to compute it again. */
export function LineFormula({ line, meter, unit }: { readonly line: UsageLineShape; readonly meter: string; readonly unit: string }) {
  const { t } = useTranslation('report')
  const { formula, price, discount, variant, from, amount } = line
  const units = formula.parts.reduce((sum, part) => sum + Number(part.units), 0)
  const until = (to: string | null): string => (to === null ? t('formula.open') : t('formula.until', { at: format.dateTime(to) }))
  const sum = formula.parts.reduce((total, part) => total + toMinor(productOf(part.units, part.price)), 0n)
  return (
    <>
      <p>
        <strong>{line.sku.name}</strong> <span className="zs-soft">{line.product.name}</span>
      </p>
      <ol className="br-steps">
        <li>
          <strong>{t('formula.usage')}</strong>
          <p>
            {t('formula.usageText', { from: format.dateTime(from), seconds: formula.seconds, meter, units: String(units), unit })}
            {variantText(line.meter, variant) !== '' && t('formula.variant', { variant })}
          </p>
        </li>
        <li>
          <strong>{t('formula.price')}</strong>
          {formula.parts.map((part, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- tiers stay in their order
            <p key={index} className="zs-number">
              {t('formula.priceOne', {
                units: part.units,
                unit,
                price: format.exactMoney(part.price),
                product: format.exactMoney(productOf(part.units, part.price)),
              })}
            </p>
          ))}
          {formula.parts.length > 1 && <p className="zs-number">{t('formula.priceSum', { sum: format.exactMoney(toDecimal(sum)) })}</p>}
          <p className="zs-soft">{t('formula.priceHeld', { from: format.dateTime(price.effective_from), to: until(price.effective_to) })}</p>
        </li>
        <li>
          <strong>{t('formula.time')}</strong>
          <p>{t('formula.timeText', { seconds: formula.seconds })}</p>
        </li>
        <li>
          <strong>{t('formula.discount')}</strong>
          <p>
            {discount === null
              ? t('formula.discountNone')
              : t('formula.discountText', {
                  name: discount.name,
                  fraction: formula.fraction,
                  from: format.dateTime(discount.effective_from),
                  to: until(discount.effective_to),
                })}
          </p>
        </li>
        <li>
          <strong>{t('formula.result')}</strong>
          <p className="br-formula">
            {formulaOf(line, unit)} = {format.exactMoney(amount)}
          </p>
          <p className="zs-soft">{t('formula.rounded')}</p>
        </li>
      </ol>
    </>
  )
}
