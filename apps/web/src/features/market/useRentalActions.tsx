import { orders } from '@zhisuan/contract/bill/order'
import { offers, stoppedDays } from '@zhisuan/contract/market/offer'
import { mayMove, rentalCan, rentals, type Rental } from '@zhisuan/contract/market/rental'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import * as format from '../../kit/format.ts'
import { lazy } from 'react'

const PrepayDialog = lazy(() => import('./PrepayDialog.tsx'))
const LimitDialog = lazy(() => import('./LimitDialog.tsx'))

/** What can be done with a machine that is rented; what is lost by it is said before. */
export function useRentalActions(): (rental: Rental) => readonly Action[] {
  const { t } = useTranslation('market')
  const how = { invalidates: [rentals.list, rentals.get, offers.browse], silent: true } as const
  const stop = useChange(rentals.stop, how)
  const start = useChange(rentals.start, how)
  const move = useChange(rentals.move, how)
  const release = useChange(rentals.release, how)
  return (rental) => {
    const { id, name, status, stopped_price, running_price } = rental
    const params = { id }
    const off = (action: keyof typeof rentalCan): string | null =>
      (rentalCan[action] as readonly string[]).includes(status) ? null : t('rental.notNow', { status: t(`rental.status.${status}`) })
    return [
      {
        key: 'start',
        call: rentals.start,
        label: t('action.start'),
        disabledReason: off('start'),
        confirm: { title: t('start.title', { name }), body: t('start.body', { price: format.rate(running_price) }) },
        run: () => start.mutateAsync({ params }),
      },
      {
        key: 'move',
        call: rentals.move,
        label: t('action.move'),
        danger: true,
        disabledReason: mayMove(rental) ? null : status === 'stopped' ? t('rental.keepsCards') : t('rental.notNow', { status: t(`rental.status.${status}`) }),
        confirm: {
          title: t('moving.title', { name }),
          body: t('moving.body', { size: format.bytes(rental.disk_bytes), price: format.rate(running_price) }),
          typeToConfirm: name,
        },
        run: () => move.mutateAsync({ params }),
      },
      {
        key: 'stop',
        call: rentals.stop,
        label: t('action.stop'),
        disabledReason: off('stop'),
        confirm: {
          title: t('stopping.title', { name }),
          body: t(rental.prepaid_until === null ? 'stopping.body' : 'stopping.bodyAhead', { price: format.rate(stopped_price), days: stoppedDays }),
        },
        run: () => stop.mutateAsync({ params }),
      },
      {
        key: 'prepay',
        call: orders.create,
        label: t(rental.prepaid_until === null ? 'action.prepay' : 'action.renew'),
        disabledReason: status === 'running' || rental.prepaid_until !== null ? null : t('rental.notNow', { status: t(`rental.status.${status}`) }),
        dialog: (close) => <PrepayDialog rental={rental} onClose={close} />,
      },
      {
        key: 'limit',
        call: rentals.limit,
        label: t('action.limit'),
        disabledReason: off('limit'),
        dialog: (close) => <LimitDialog rental={rental} onClose={close} />,
      },
      {
        key: 'release',
        call: rentals.release,
        label: t('action.release'),
        danger: true,
        disabledReason: off('release'),
        confirm: { title: t('release.title', { name }), body: t('release.body', { size: format.bytes(rental.disk_bytes) }), typeToConfirm: name },
        run: () => release.mutateAsync({ params }),
      },
    ]
  }
}
