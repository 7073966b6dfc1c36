import { offerCan, offers, offerStatuses, type Offer } from '@zhisuan/contract/market/offer'
import { providerCan, providers, providerStatuses, type Provider } from '@zhisuan/contract/market/provider'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { offerTones, providerTones } from './marketTexts.ts'
import { OfferTerms } from './OfferTerms.tsx'

const ReasonDialog = lazy(() => import('../../kit/ReasonDialog.tsx'))

/** The platform's side of the market: providers to be verified, offers to be decided. */
export default function MarketAdministration() {
  const { t } = useTranslation('market')
  return (
    <DetailTabs
      tabs={[
        { key: 'providers', label: t('tab.providers'), content: <Providers /> },
        { key: 'offers', label: t('tab.offers'), content: <Offers /> },
      ]}
    />
  )
}

function Providers() {
  const { t } = useTranslation('market')
  const review = useChange(providers.review, { invalidates: [providers.list, offers.browse], silent: true })
  return (
    <ResourceTable
      name="providers"
      call={providers.list}
      columns={[
        col.name<Provider>('name', t('column.provider'), ({ name }) => name, { sort: true, note: ({ bp_name }) => bp_name ?? t('provider.platform') }),
        col.status<Provider>(
          'status',
          t('column.status'),
          ({ status, reason }) => ({ tone: providerTones[status], text: t(`provider.status.${status}`), note: reason }),
          { sort: true, width: 180 },
        ),
        col.text<Provider>('contact', t('field.contact'), ({ contact }) => contact, { width: 180, note: ({ description }) => description }),
        col.number<Provider>('nodes', t('column.nodes'), ({ node_count }) => node_count, { width: 90 }),
        col.number<Provider>('cards', t('column.cards'), ({ card_count }) => card_count, { width: 90 }),
        col.number<Provider>('offers', t('column.offers'), ({ offer_count }) => offer_count, { width: 90 }),
        col.date<Provider>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('column.provider')), filter.oneOf('status', t('column.status'), providerStatuses, (one) => t(`provider.status.${one}`))]}
      rowActions={({ id, name, status }) => {
        const params = { id }
        const off = (action: keyof typeof providerCan): string | null =>
          (providerCan[action] as readonly string[]).includes(status) ? null : t('provider.notNow', { status: t(`provider.status.${status}`) })
        return [
          {
            key: 'verify',
            call: providers.review,
            label: t('action.verify'),
            disabledReason: off('verify'),
            confirm: { title: t('provider.verifyTitle', { name }), body: t('provider.verifyBody') },
            run: () => review.mutateAsync({ params, body: { action: 'verify' } }),
          },
          {
            key: 'disable',
            call: providers.review,
            label: t('action.disable'),
            danger: true,
            disabledReason: off('disable'),
            dialog: (close) => (
              <ReasonDialog
                title={t('provider.disableTitle', { name })}
                missing={t('reason.missing')}
                okText={t('action.disable')}
                doneText={t('reason.done')}
                onReason={(reason) => review.mutateAsync({ params, body: { action: 'disable', reason } })}
                onClose={close}
              />
            ),
          },
        ]
      }}
      empty={{ title: t('provider.noneYet'), note: t('provider.noneYetNote') }}
    />
  )
}

function Offers() {
  const { t } = useTranslation('market')
  const decide = useChange(offers.decide, { invalidates: [offers.list, offers.browse], silent: true })
  return (
    <ResourceTable
      name="offers"
      call={offers.list}
      columns={[
        col.name<Offer>('card_model', t('column.card'), ({ card_model }) => card_model, { sort: true, note: (offer) => <OfferTerms offer={offer} /> }),
        col.text<Offer>('provider', t('column.provider'), ({ provider }) => provider.name, { width: 140 }),
        col.status<Offer>(
          'status',
          t('column.status'),
          ({ status, reason }) => ({ tone: offerTones[status], text: t(`offer.status.${status}`), note: reason }),
          {
            sort: true,
            width: 160,
          },
        ),
        col.text<Offer>('free', t('column.free'), ({ free_cards, total_cards }) => t('freeOf', { free: free_cards, total: total_cards }), { width: 120 }),
        col.charge<Offer>('card_price', t('column.cardPrice'), ({ card_price }) => card_price, { width: 130 }),
        col.date<Offer>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('column.card')), filter.oneOf('status', t('column.status'), offerStatuses, (one) => t(`offer.status.${one}`))]}
      rowActions={({ id, card_model, status, provider }) => {
        const params = { id }
        const off = (offerCan.decide as readonly string[]).includes(status) ? null : t('offer.decided')
        const name = `${provider.name} ${card_model}`
        return [
          {
            key: 'accept',
            call: offers.decide,
            label: t('action.accept'),
            disabledReason: off,
            confirm: { title: t('offer.acceptTitle', { name }), body: t('offer.acceptBody') },
            run: () => decide.mutateAsync({ params, body: { accept: true } }),
          },
          {
            key: 'reject',
            call: offers.decide,
            label: t('action.reject'),
            danger: true,
            disabledReason: off,
            dialog: (close) => (
              <ReasonDialog
                title={t('offer.rejectTitle', { name })}
                missing={t('reason.missing')}
                okText={t('action.reject')}
                doneText={t('reason.done')}
                onReason={(reason) => decide.mutateAsync({ params, body: { accept: false, reason } })}
                onClose={close}
              />
            ),
          },
        ]
      }}
      empty={{ title: t('offer.noneYet'), note: t('offer.noneYetNote') }}
    />
  )
}
