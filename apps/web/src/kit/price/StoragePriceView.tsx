import { useTranslation } from '../../i18n.ts'
import * as format from '../format.ts'
import { storageItems, type StorageMeter } from './items.ts'
import { LeastBalance } from './LeastBalance.tsx'
import { Price } from './Price.tsx'
import './price.css'

export interface Stored {
  readonly meter: StorageMeter
  /** Null where nobody can tell: then a GiB is priced. */
  readonly bytes: number | null
  /** Whether it will be just so large; else it may turn out smaller. */
  readonly exact?: boolean
  /** Whose it will be. */
  readonly bpId?: string | null
}

export default function StoragePriceView({ meter, bytes, exact = false, bpId = null }: Stored) {
  const { t } = useTranslation('price')
  return (
    <section className="zs-price-storage" aria-label={t('title')}>
      <div className="zs-soft">{t('title')}</div>
      <Price items={storageItems(meter, bytes)} period="hour" bpId={bpId} />
      <div className="zs-soft">{bytes === null ? t('storage.each') : t(exact ? 'storage.exact' : 'storage.most', { size: format.bytes(bytes) })}</div>
      {meter !== 'snapshot.size' && <LeastBalance bpId={bpId} />}
    </section>
  )
}
