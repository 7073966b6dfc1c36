import { useTranslation } from '../../i18n.ts'
import type { QuoteItem } from './items.ts'
import { LeastBalance } from './LeastBalance.tsx'
import { Price } from './Price.tsx'
import './price.css'

export interface Made {
  readonly items: readonly QuoteItem[]
  /** Whose it will be. */
  readonly bpId?: string | null
}

export default function NewPriceView({ items, bpId = null }: Made) {
  const { t } = useTranslation('price')
  return (
    <section className="zs-price-storage" aria-label={t('title')}>
      <div className="zs-soft">{t('title')}</div>
      <Price items={items} period="hour" bpId={bpId} />
      <LeastBalance bpId={bpId} />
    </section>
  )
}
