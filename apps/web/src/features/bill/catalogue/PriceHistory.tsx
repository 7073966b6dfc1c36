import { billingPeriods, skus, type Price, type Sku } from '@zhisuan/contract/bill/catalogue'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import './catalogue.css'
import { heldSpan, priceText, priceTones } from './catalogueText.ts'

const shownAtMost = 200

/** Every price that a SKU had, has and is to have: as a picture, and as a list. */
export function PriceHistory({ sku, onReplace }: { readonly sku: Sku; readonly onReplace: (price: Price) => void }) {
  const { t } = useTranslation('catalogue')
  const { data } = useCall(skus.prices, { params: { id: sku.id }, query: { page_size: shownAtMost } }, { silent: true, refreshMs: 5_000 })
  return (
    <div className="bc-history">
      {data !== undefined && data.items.length > 0 && <Timeline sku={sku} prices={data.items} more={data.total > data.items.length} />}
      <ResourceTable
        name={`prices-${sku.id.slice(-8)}`}
        call={skus.prices}
        input={{ params: { id: sku.id } }}
        columns={[
          col.custom<Price>('period', t('price.column.period'), ({ period }) => t(`period.${period}`), { width: 90 }),
          col.custom<Price>('price', t('price.column.price'), (price) => <PriceLines sku={sku} price={price} />, { width: 240 }),
          col.date<Price>('effective_from', t('price.column.from'), ({ effective_from }) => effective_from, { sort: true }),
          col.custom<Price>(
            'to',
            t('price.column.to'),
            (price) => {
              const held = heldSpan(price)
              return held === null ? t('price.never') : held.to === null ? t('price.open') : format.dateTime(held.to)
            },
            { width: 170 },
          ),
          col.status<Price>('status', t('price.column.status'), ({ status }) => ({ tone: priceTones[status], text: t(`price.status.${status}`) }), {
            width: 110,
          }),
          col.text<Price>('by', t('price.column.by'), ({ created_by }) => created_by, { width: 120 }),
        ]}
        filters={[filter.oneOf('period', t('price.column.period'), billingPeriods, (value) => t(`period.${value}`))]}
        rowActions={(price) => [
          {
            key: 'replace',
            call: skus.setPrice,
            label: t('sku.setPrice'),
            run: () => onReplace(price),
          },
        ]}
        empty={{ title: t('price.none') }}
      />
    </div>
  )
}

function PriceLines({ sku, price }: { readonly sku: Sku; readonly price: Price }) {
  const { t } = useTranslation('catalogue')
  if (price.tiers.length === 1) return <span className="zs-number">{priceText(t, sku.meter, price)}</span>
  return (
    <ul className="zs-list zs-number">
      {price.tiers.map(({ above, price: each }, at) => {
        const next = price.tiers[at + 1]?.above
        return (
          <li key={above}>
            {next === undefined ? t('tiers.beyond', { from: above }) : t('tiers.upTo', { from: above, to: next })}：{format.exactMoney(each)}
          </li>
        )
      })}
    </ul>
  )
}

/** A lane for each period, in which each price lies where it holds. */
function Timeline({ sku, prices, more }: { readonly sku: Sku; readonly prices: readonly Price[]; readonly more: boolean }) {
  const { t } = useTranslation('catalogue')
  const now = Date.now()
  const held = prices.flatMap((price) => {
    const span = heldSpan(price)
    return span === null ? [] : [{ price, ...span }]
  })
  const moments = held.flatMap(({ from, to }) => (to === null ? [from] : [from, to]))
  // With some room around, so that what goes on is seen to go on.
  const [first, last] = [Math.min(now, ...moments), Math.max(now, ...moments)]
  const room = Math.max(3_600_000, (last - first) * 0.12)
  const [begin, end] = [first - room / 4, last + room]
  const place = (moment: number): number => ((moment - begin) / (end - begin)) * 100
  const lanes = billingPeriods.filter((period) => held.some(({ price }) => price.period === period))
  return (
    <figure className="bc-timeline">
      <figcaption>
        <strong>{t('price.timeline')}</strong> <span className="zs-soft">{t('price.timelineNote')}</span>
        {more && <span className="zs-soft"> {t('price.newer', { count: prices.length })}</span>}
      </figcaption>
      {lanes.map((period) => (
        <div key={period} className="bc-lane">
          <span>{t(`period.${period}`)}</span>
          <ol className="bc-lane-track">
            {held
              .filter(({ price }) => price.period === period)
              .map(({ price, from, to }) => {
                const text = priceText(t, sku.meter, price)
                const said = t('price.segment', {
                  period: t(`period.${period}`),
                  from: format.dateTime(from),
                  to: to === null ? t('price.open') : format.dateTime(to),
                  price: text,
                  status: t(`price.status.${price.status}`),
                })
                return (
                  <li
                    key={price.id}
                    className={`bc-span bc-span-${price.status}`}
                    title={said}
                    style={{ insetInlineStart: `${place(from)}%`, inlineSize: `${place(to ?? end) - place(from)}%` }}
                  >
                    <span aria-hidden="true">{text}</span>
                    <span className="zs-hidden">{said}</span>
                  </li>
                )
              })}
          </ol>
        </div>
      ))}
      <div className="bc-axis" aria-hidden="true">
        <span className="bc-now" style={{ insetInlineStart: `${place(now)}%` }}>
          {t('price.today')}
        </span>
        <span>{format.date(first)}</span>
        <span>{format.date(last)}</span>
      </div>
    </figure>
  )
}
