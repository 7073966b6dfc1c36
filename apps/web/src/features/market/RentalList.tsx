import { rentals, rentalStatuses, rentalTransitional, type Rental } from '@zhisuan/contract/market/rental'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { rentalTones } from './marketTexts.ts'
import { useRentalActions } from './useRentalActions.tsx'

/** Machines that one rents. */
export default function RentalList() {
  const { t } = useTranslation('market')
  const actionsOf = useRentalActions()
  return (
    <ResourceTable
      call={rentals.list}
      columns={[
        col.name<Rental>('name', t('column.name'), ({ name }) => name, {
          sort: true,
          to: ({ id }) => paths.market.rental.detail(id),
          note: ({ offer, count }) => t('ofCards', { count, model: offer.card_model }),
        }),
        col.status<Rental>(
          'status',
          t('column.status'),
          ({ status, fault, step, error }) =>
            fault !== null
              ? { tone: 'bad', text: t(`fault.${fault}`) }
              : {
                  tone: rentalTones[status],
                  text: t(`rental.status.${status}`),
                  note: step === null ? error : t(`step.${step as 'pull'}`, { defaultValue: '' }),
                },
          { sort: true, width: 200 },
        ),
        col.text<Rental>('provider', t('column.provider'), ({ provider }) => provider.name, { width: 140, note: ({ region }) => region?.name ?? '' }),
        col.charge<Rental>('hourly', t('column.hourly'), ({ hourly }) => hourly, { width: 120 }),
        col.money<Rental>('spent', t('column.spent'), ({ spent }) => spent, { width: 120 }),
        col.date<Rental>('release_at', t('column.releaseAt'), ({ release_at, status }) => (status === 'stopped' ? release_at : null), { width: 120 }),
        col.date<Rental>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('column.name')), filter.oneOf('status', t('column.status'), rentalStatuses, (one) => t(`rental.status.${one}`))]}
      rowActions={actionsOf}
      passing={({ status }) => rentalTransitional.includes(status)}
      create={{ call: rentals.create, label: t('rentMore'), href: paths.market.list() }}
      empty={{ title: t('rental.none'), note: t('rental.noneNote') }}
    />
  )
}
