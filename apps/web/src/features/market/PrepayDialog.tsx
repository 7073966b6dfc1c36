import { orders, prepaids } from '@zhisuan/contract/bill/order'
import { offerPeriods } from '@zhisuan/contract/market/offer'
import { rentals, type Rental } from '@zhisuan/contract/market/rental'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { BillingMode, type Billing } from '../../kit/price/BillingMode.tsx'
import { rentalItems } from '../../kit/price/items.ts'
import { Price } from '../../kit/price/Price.tsx'
import { useUnorderable } from '../../kit/price/useQuote.ts'
import { paths, withQuery } from '../../paths.ts'

const week: Billing = { mode: 'week', count: 1, auto_renew: false }

/** Pays for a machine in advance, or for more time of it; what was paid by the second goes on so once that is over. */
export default function PrepayDialog({ rental, onClose }: Dialog<{ rental: Rental }>) {
  const { t } = useTranslation(['market', 'price'])
  const navigate = useNavigate()
  const [billing, setBilling] = useState<Billing>(week)
  const items = rentalItems(rental.offer.id, rental.count, rental.disk_bytes)
  const unorderable = useUnorderable(items, billing)
  const period = billing.mode === 'hour' ? 'week' : billing.mode
  const order = useChange(orders.create, {
    invalidates: [orders.list, prepaids.get, rentals.get, rentals.list],
    silent: true,
    onDone: (made) => void navigate(withQuery(paths.order.detail(made.id), { pay: 1 })),
  })
  return (
    <FormDialog
      title={t(rental.prepaid_until === null ? 'prepay.title' : 'prepay.renewTitle', { name: rental.name })}
      okText={t('price:toPay')}
      okDisabled={unorderable}
      initialValues={{}}
      doneText={t('price:ordered')}
      onClose={onClose}
      onSubmit={() =>
        order.mutateAsync({
          body: { resource_type: 'market.rental', resource_id: rental.id, period, count: billing.count, auto_renew: billing.auto_renew },
        })
      }
    >
      <p>{rental.prepaid_until === null ? t('prepay.note') : t('prepay.until', { at: format.dateTime(rental.prepaid_until) })}</p>
      <BillingMode
        value={billing}
        onChange={(next) => setBilling(next.mode === 'hour' ? { ...next, mode: 'week' } : next)}
        periods={offerPeriods}
        prepaidOnly
      />
      <p>
        <Price items={items} period={period} count={billing.count} />
      </p>
    </FormDialog>
  )
}
