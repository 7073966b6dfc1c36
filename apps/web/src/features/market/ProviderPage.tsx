import Alert from 'antd/es/alert'
import { cards, cardCan, cardHealths, marketNodes, type Card, type MarketNode } from '@zhisuan/contract/market/card'
import { offerCan, offers, offerStatuses, type Offer } from '@zhisuan/contract/market/offer'
import { providers, type Provider } from '@zhisuan/contract/market/provider'
import { incomes } from '@zhisuan/contract/market/rental'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { ticketPath } from '../../kit/ticketPath.ts'
import { useCurrentUser } from '../../session/user.ts'
import { cardTones, offerTones } from './marketTexts.ts'
import { OfferTerms } from './OfferTerms.tsx'
import './market.css'

const ProviderDialog = lazy(() => import('./ProviderDialog.tsx'))
const OfferDialog = lazy(() => import('./OfferDialog.tsx'))

/** Cards of one's organisation in the market: its nodes, what they are offered for, and what they bring in. */
export default function ProviderPage() {
  const { t } = useTranslation('market')
  const bpId = useCurrentUser()?.bp_id ?? null
  const { data, error, refetch } = useCall(providers.list, { query: { page_size: 1_000 } }, { silent: true })
  if (data === undefined) return error === null ? <PagePlaceholder /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const provider = data.items.find((one) => one.bp_id === bpId) ?? null
  return (
    <>
      {provider?.status === 'pending' && (
        <Alert className="zs-above" type="info" showIcon title={t('provider.pending')} description={t('provider.pendingNote')} />
      )}
      {provider?.status === 'disabled' && (
        <Alert
          className="zs-above"
          type="error"
          showIcon
          title={t('provider.disabled', { reason: provider.reason ?? '' })}
          description={t('provider.disabledNote')}
        />
      )}
      <DetailTabs
        tabs={[
          { key: 'nodes', label: t('tab.nodes'), content: <Nodes provider={provider} /> },
          { key: 'cards', label: t('tab.cards'), content: <Cards /> },
          ...(provider === null
            ? []
            : [
                { key: 'offers', label: t('tab.offers'), content: <Offers /> },
                { key: 'income', label: t('tab.income'), content: <Income provider={provider} /> },
              ]),
        ]}
      />
    </>
  )
}

function Nodes({ provider }: { readonly provider: Provider | null }) {
  const { t } = useTranslation('market')
  const how = { invalidates: [marketNodes.list, cards.list, offers.list], silent: true } as const
  const test = useChange(marketNodes.test, how)
  const enlist = useChange(marketNodes.enlist, how)
  const withdraw = useChange(marketNodes.withdraw, how)
  return (
    <ResourceTable
      name="nodes"
      call={marketNodes.list}
      columns={[
        col.name<MarketNode>('name', t('column.node'), ({ name }) => name, { sort: true, note: ({ region }) => region?.name ?? '' }),
        col.status<MarketNode>('listed', t('column.listed'), ({ listed, online }) =>
          listed ? { tone: online ? 'good' : 'warning', text: t(online ? 'node.listed' : 'node.away') } : { tone: 'rest', text: t('node.unlisted') },
        ),
        col.text<MarketNode>('cards', t('column.cards'), (node) => t('node.cards', node.cards), { width: 220 }),
        col.text<MarketNode>(
          'test',
          t('column.test'),
          ({ test: last }) => (last === null ? t('node.untested') : t(last.passed ? 'node.passed' : 'node.failed')),
          {
            width: 280,
            note: ({ test: last }) =>
              last === null
                ? ''
                : last.passed
                  ? format.dateTime(last.at)
                  : last.checks
                      .filter(({ passed }) => !passed)
                      .map(({ check, value }) => `${t(`check.${check}`)} ${value}`.trim())
                      .join('、'),
          },
        ),
      ]}
      filters={[filter.keyword(t('column.node'))]}
      rowActions={({ id, name, listed, online, test: last }) => {
        const params = { id }
        return [
          {
            key: 'test',
            call: marketNodes.test,
            label: t('action.test'),
            disabledReason: online ? null : t('node.offline'),
            doneText: t('node.tested', { name }),
            run: () => test.mutateAsync({ params }),
          },
          listed
            ? {
                key: 'withdraw',
                call: marketNodes.withdraw,
                label: t('action.withdraw'),
                confirm: { title: t('node.withdrawTitle', { name }), body: t('node.withdrawBody') },
                run: () => withdraw.mutateAsync({ params }),
              }
            : {
                key: 'enlist',
                call: marketNodes.enlist,
                label: t('action.enlist'),
                disabledReason: provider === null ? t('provider.none') : last?.passed === true ? null : t('node.testFirst'),
                confirm: { title: t('node.enlistTitle', { name }), body: t('node.enlistBody') },
                run: () => enlist.mutateAsync({ params }),
              },
        ]
      }}
      create={{
        call: provider === null ? providers.create : providers.update,
        label: t(provider === null ? 'provider.apply' : 'provider.edit'),
        dialog: (close) => <ProviderDialog provider={provider} onClose={close} />,
      }}
      empty={{ title: t('node.none'), note: t('node.noneNote') }}
    />
  )
}

function Cards() {
  const { t } = useTranslation('market')
  const clear = useChange(cards.clear, { invalidates: [cards.list, marketNodes.list], silent: true })
  return (
    <ResourceTable
      name="cards"
      call={cards.list}
      columns={[
        col.name<Card>('model', t('column.card'), ({ model }) => model, { sort: true, note: ({ uuid }) => uuid }),
        col.text<Card>('edge', t('column.node'), ({ edge, index }) => t('card.place', { node: edge.name, index }), { width: 180 }),
        col.status<Card>(
          'health',
          t('column.status'),
          ({ state, trouble, trouble_detail }) => ({
            tone: cardTones[state],
            text: t(`card.state.${state}`),
            note: trouble === null ? null : t(`trouble.${trouble}`, { detail: trouble_detail }),
          }),
          { sort: true, width: 190 },
        ),
        col.bytes<Card>('memory', t('column.memory'), ({ memory_bytes }) => memory_bytes, { width: 110 }),
        col.text<Card>('driver', t('column.driver'), ({ driver }) => driver, { width: 130, note: ({ cuda }) => (cuda === null ? '' : `CUDA ${cuda}`) }),
        col.date<Card>('seen_at', t('column.seen'), ({ seen_at }) => seen_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('column.card')), filter.oneOf('health', t('column.status'), cardHealths, (one) => t(`card.health.${one}`))]}
      rowActions={({ id, trouble, trouble_detail, model, uuid, edge, index, health_since }) =>
        trouble === null
          ? []
          : [
              {
                key: 'ticket',
                // Everybody may.
                call: null,
                label: t('card.ticket'),
                href: ticketPath({
                  about: { kind: 'market.card', id, name: model },
                  type: 'fault',
                  title: t('card.ticketTitle', { model, trouble: t(`trouble.${trouble}`, { detail: trouble_detail }) }),
                  text: t('card.ticketText', { place: t('card.place', { node: edge.name, index }), uuid, since: format.dateTime(health_since) }),
                }),
              },
              {
                key: 'clear',
                call: cards.clear,
                label: t('action.clear'),
                disabledReason: (cardCan.clear as readonly string[]).includes(trouble) ? null : t('card.nothingToClear'),
                confirm: { title: t('card.clearTitle'), body: t('card.clearBody') },
                run: () => clear.mutateAsync({ params: { id } }),
              },
            ]
      }
      empty={{ title: t('node.none'), note: t('node.noneNote') }}
    />
  )
}

function Offers() {
  const { t } = useTranslation('market')
  const act = useChange(offers.action, { invalidates: [offers.list, offers.browse], silent: true })
  return (
    <ResourceTable
      name="offers"
      call={offers.list}
      columns={[
        col.name<Offer>('card_model', t('column.card'), ({ card_model }) => card_model, { sort: true, note: (offer) => <OfferTerms offer={offer} /> }),
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
      rowActions={({ id, status, card_model }) =>
        (['pause', 'resume', 'end'] as const)
          .filter((action) => (offerCan[action] as readonly string[]).includes(status))
          .map((action) => ({
            key: action,
            call: offers.action,
            label: t(`action.${action}`),
            danger: action === 'end',
            ...(action === 'end' && { confirm: { title: t('offer.endTitle', { name: card_model }), body: t('offer.endBody') } }),
            run: () => act.mutateAsync({ params: { id }, body: { action } }),
          }))
      }
      create={{ call: offers.create, label: t('offer.create'), dialog: (close) => <OfferDialog onClose={close} /> }}
      empty={{ title: t('offer.none'), note: t('offer.noneNote') }}
    />
  )
}

function Income({ provider }: { readonly provider: Provider }) {
  const { t } = useTranslation('market')
  const { data, error, refetch } = useCall(incomes.list, { params: { id: provider.id }, query: {} }, { silent: true })
  if (data === undefined) return error === null ? <PagePlaceholder /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <>
      <p>
        {t('income.total')} <strong className="zs-number">{format.money(data.total)}</strong> <span className="zs-soft">{t('income.note')}</span>
      </p>
      {data.items.length === 0 ? (
        <EmptyState title={t('income.none')}>{t('income.noneNote')}</EmptyState>
      ) : (
        <table className="mk-stop">
          <thead>
            <tr>
              <th scope="col">{t('column.day')}</th>
              <th scope="col">{t('column.card')}</th>
              <th scope="col" className="zs-number">
                {t('column.cardHours')}
              </th>
              <th scope="col" className="zs-number">
                {t('column.amount')}
              </th>
            </tr>
          </thead>
          <tbody>
            {data.items.map(({ day, offer_id, card_model, card_hours, amount }) => (
              <tr key={`${day} ${offer_id}`}>
                <td>{day}</td>
                <td>{card_model}</td>
                <td className="zs-number">{format.number(card_hours)}</td>
                <td className="zs-number">{format.exactMoney(amount)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
