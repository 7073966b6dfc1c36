import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import { accounts, ledgerKinds, ownersAccounts, type LedgerEntry } from '@zhisuan/contract/bill/account'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { saveFrom } from '../../../kit/save.ts'
import { SaveButtons } from '../../../kit/SaveButtons.tsx'
import { withQuery } from '../../../paths.ts'
import { Amount, amountColumn } from './Amount.tsx'
import { PeriodFilter, usePeriod } from './Period.tsx'
import './fund.css'

/** Income and expense of one account; each leads to the movement that it is part of. */
export function EntryTable({ owner, path, query = {} }: { readonly owner: string; readonly path: string; readonly query?: Record<string, string> }) {
  const { t } = useTranslation('fund')
  const period = usePeriod()
  const save = useChange(accounts.exportEntries, { onDone: (link) => saveFrom(link.path) })
  return (
    <>
      <PeriodFilter {...period} />
      <ResourceTable
        call={accounts.entries}
        input={{ params: { id: owner }, query: period.query }}
        name="entries"
        columns={[
          col.date<LedgerEntry>('id', t('column.time'), ({ at }) => at, { sort: true }),
          col.text<LedgerEntry>('kind', t('column.kind'), ({ kind }) => t(`kind.${kind}`), {
            to: ({ transaction_id }) => withQuery(path, { ...query, movement: transaction_id }),
            width: 100,
          }),
          col.text<LedgerEntry>('account', t('column.account'), ({ account }) => t(`ledger.${account}`), { width: 90 }),
          amountColumn<LedgerEntry>('amount', t('column.amount'), ({ amount }) => amount, { width: 130, signed: true }),
          amountColumn<LedgerEntry>('after', t('column.after'), ({ balance_after }) => balance_after, { width: 130, part: true }),
          col.text<LedgerEntry>('note', t('note'), ({ note }) => note, { width: 160 }),
          col.text<LedgerEntry>('by', t('column.by'), ({ by }) => by || t('entry.platform'), { width: 100 }),
        ]}
        filters={[
          filter.oneOf('kind', t('column.kind'), ledgerKinds, (value) => t(`kind.${value}`)),
          filter.oneOf('account', t('column.account'), ownersAccounts, (value) => t(`ledger.${value}`)),
        ]}
        toolbar={(filters) => (
          <SaveButtons pending={save.isPending} save={(as) => save.mutate({ params: { id: owner }, body: { format: as, ...period.query, ...filters } })} />
        )}
        empty={{ title: t('entry.empty'), note: t('entry.emptyNote') }}
      />
      <MovementDrawer owner={owner} />
    </>
  )
}

/** The movement that the address names: why money moved, and between which of the owner's accounts. */
function MovementDrawer({ owner }: { readonly owner: string }) {
  const { t } = useTranslation('fund')
  const [search, setSearch] = useSearchParams()
  const id = search.get('movement')
  const close = (): void =>
    setSearch((now) => {
      const next = new URLSearchParams(now)
      next.delete('movement')
      return next
    })
  return (
    <Drawer open={id !== null} size={520} title={t('movement.title')} onClose={close}>
      {id !== null && <Movement owner={owner} id={id} />}
    </Drawer>
  )
}

function Movement({ owner, id }: { readonly owner: string; readonly id: string }) {
  const { t } = useTranslation('fund')
  const { data, error, refetch } = useCall(accounts.entries, { params: { id: owner }, query: { transaction_id: id, page_size: 100 } }, { silent: true })
  if (data === undefined) return error === null ? <Skeleton active /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const [first] = data.items
  if (first === undefined) return <EmptyState title={t('movement.none')} />
  return (
    <>
      <dl className="bf-facts">
        <dt>{t('column.kind')}</dt>
        <dd>{t(`kind.${first.kind}`)}</dd>
        <dt>{t('column.time')}</dt>
        <dd>{format.dateTime(first.at)}</dd>
        <dt>{t('column.by')}</dt>
        <dd>{first.by || t('entry.platform')}</dd>
        <dt>{t('note')}</dt>
        <dd>{first.note || format.nothing}</dd>
        <dt>{t('movement.id')}</dt>
        <dd className="zs-code">{id}</dd>
      </dl>
      <h2 className="bf-entries">{t('movement.entries')}</h2>
      <dl className="bf-facts">
        {data.items.map(({ id: entry, account, amount, balance_after }) => (
          <div key={entry} className="bf-entry">
            <dt>{t(`ledger.${account}`)}</dt>
            <dd>
              <Amount value={amount} signed />
              <div className="zs-soft">
                {t('column.after')} <Amount value={balance_after} part />
              </div>
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
