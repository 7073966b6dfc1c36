import Button from 'antd/es/button'
import { billingPeriods, skus, usualPeriods, type BillingPeriod, type Price, type Sku } from '@zhisuan/contract/bill/catalogue'
import { useId, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { ActionMenu } from '../../../kit/actions.tsx'
import * as format from '../../../kit/format.ts'
import './catalogue.css'
import { meterText, priceText } from './catalogueText.ts'
import { PriceDialog } from './PriceDialog.tsx'
import { PriceHistory } from './PriceHistory.tsx'
import { SkuRename } from './SkuDialog.tsx'
import { TierPicture } from './TierPicture.tsx'
import { invalidatedByCatalogue } from './invalidated.ts'

/** One SKU: what it measures, what it costs now, who uses it, and its prices over time. */
export function SkuCard({ sku }: { readonly sku: Sku }) {
  const { t } = useTranslation('catalogue')
  const id = useId()
  const [pricing, setPricing] = useState<{ period: BillingPeriod; from: Price | null } | null>(null)
  const [history, setHistory] = useState(false)
  const remove = useChange(skus.delete, { invalidates: invalidatedByCatalogue })
  const { used_by, planned_count, ever_priced } = sku
  return (
    <section className="bc-sku" aria-labelledby={id}>
      <div className="bc-sku-head">
        <div>
          <h2 id={id}>{sku.name}</h2>
          <p className="zs-soft">
            {meterText(t, sku.meter, sku.variant)}
            {' · '}
            {used_by.resources > 0 ? <span title={t('sku.byNow')}>{t('sku.inUse', used_by)}</span> : t('sku.notInUse')}
            {sku.created_by !== '' && ` · ${t('byWhom')} ${sku.created_by}`}
            {` · ${format.dateTime(sku.created_at)}`}
          </p>
        </div>
        <ActionMenu
          look="default"
          label={sku.name}
          actions={[
            {
              key: 'rename',
              call: skus.update,
              label: t('action.rename'),
              dialog: (close) => <SkuRename sku={sku} onClose={close} />,
            },
            {
              key: 'delete',
              call: skus.delete,
              label: t('action.delete'),
              danger: true,
              disabledReason: ever_priced ? t('sku.everPriced') : null,
              confirm: { title: t('sku.deleteTitle', { name: sku.name }), body: t('sku.deleteBody') },
              doneText: t('deleted', { name: sku.name }),
              run: () => remove.mutateAsync({ params: { id: sku.id } }),
            },
          ]}
        />
      </div>
      <div className="bc-periods">
        {billingPeriods
          .filter((one) => usualPeriods.some((usual) => usual === one) || sku.prices.some(({ period }) => period === one))
          .map((period) => {
            const price = sku.prices.find((one) => one.period === period) ?? null
            return (
              <div key={period} className="bc-period">
                <div className="zs-line zs-line-narrow bc-between">
                  <span className="zs-soft">{t(`period.${period}`)}</span>
                  <Button
                    size="small"
                    aria-label={`${t('sku.setPrice')} ${sku.name} ${t(`period.${period}`)}`}
                    onClick={() => setPricing({ period, from: price })}
                  >
                    {t('sku.setPrice')}
                  </Button>
                </div>
                {price === null ? (
                  <p className="bc-none">{t('sku.unpriced')}</p>
                ) : price.tiers.length === 1 ? (
                  <p className="bc-price zs-number">{priceText(t, sku.meter, price)}</p>
                ) : (
                  <TierPicture name={sku.name} meter={sku.meter} period={period} tiers={price.tiers} />
                )}
                {price !== null && price.effective_to !== null && (
                  <p className="zs-soft bc-small">
                    {t('price.column.to')} {format.dateTime(price.effective_to)}
                  </p>
                )}
              </div>
            )
          })}
      </div>
      {(ever_priced || planned_count > 0) && (
        <div className="zs-line zs-line-narrow">
          <Button type="link" size="small" aria-expanded={history} onClick={() => setHistory(!history)}>
            {t(history ? 'sku.hideHistory' : 'sku.history')}
          </Button>
          {planned_count > 0 && <span className="zs-soft">{t('sku.planned', { count: planned_count })}</span>}
        </div>
      )}
      {history && <PriceHistory sku={sku} onReplace={(from) => setPricing({ period: from.period, from })} />}
      {pricing !== null && <PriceDialog sku={sku} period={pricing.period} from={pricing.from} onClose={() => setPricing(null)} />}
    </section>
  )
}
