import { rentals, rentalStatuses, rentalTransitional, waits, type Rental, type Wait } from '@zhisuan/contract/market/rental'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { rentalTones } from './marketTexts.ts'
import { useRentalActions } from './useRentalActions.tsx'

/** Machines that one rents, and what one waits for. */
export default function RentalList() {
  const { t } = useTranslation('market')
  return (
    <DetailTabs
      tabs={[
        { key: 'rentals', label: t('tab.rentals'), content: <Rentals /> },
        { key: 'waits', label: t('tab.waits'), content: <Waits /> },
      ]}
    />
  )
}

function Waits() {
  const { t } = useTranslation('market')
  const remove = useChange(waits.delete, { invalidates: [waits.list], silent: true })
  return (
    <ResourceTable
      name="waits"
      call={waits.list}
      columns={[
        col.name<Wait>('offer', t('column.machine'), ({ offer, count }) => t('ofCards', { count, model: offer.card_model }), {
          note: ({ offer }) => offer.provider,
        }),
        col.date<Wait>('ends_at', t('column.waitsUntil'), ({ ends_at }) => ends_at, { width: 140 }),
        col.date<Wait>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      rowActions={({ id }) => [{ key: 'delete', call: waits.delete, label: t('wait.end'), run: () => remove.mutateAsync({ params: { id } }) }]}
      empty={{ title: t('wait.none'), note: t('wait.noneNote') }}
    />
  )
}

function Rentals() {
  const { t } = useTranslation('market')
  const actionsOf = useRentalActions()
  return (
    <ResourceTable
      name="rentals"
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
