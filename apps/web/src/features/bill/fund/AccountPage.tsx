import Alert from 'antd/es/alert'
import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import { accounts, type Wallet } from '@zhisuan/contract/bill/account'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { ActionMenu, type Action } from '../../../kit/actions.tsx'
import { col } from '../../../kit/columns.tsx'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { MoneyField, TextField } from '../../../kit/fields.tsx'
import { filter } from '../../../kit/filters.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { ResourceTable, type RowOf } from '../../../kit/ResourceTable.tsx'
import { randomUuid } from '../../../kit/uuid.ts'
import { paths, withQuery } from '../../../paths.ts'
import { Amount, amountColumn } from './Amount.tsx'
import { ChannelTable } from './ChannelTable.tsx'
import { EntryTable } from './EntryTable.tsx'
import { Standing } from './Standing.tsx'
import { invalidatedByTopup } from './invalidated.ts'
import './fund.css'

type Account = RowOf<typeof accounts.list>

/** Administrators: who has what, and through whom people pay. */
export default function AccountPage() {
  const { t } = useTranslation('fund')
  return (
    <DetailTabs
      tabs={[
        { key: 'accounts', label: t('account.tab.accounts'), content: <Accounts /> },
        { key: 'channels', label: t('account.tab.channels'), content: <ChannelTable /> },
      ]}
    />
  )
}

/** What can be done to an account. */
function useAccountActions(): { readonly actionsOf: (account: Wallet) => readonly Action[] } {
  const { t } = useTranslation('fund')
  return {
    actionsOf: (of) => [
      { key: 'charge', call: accounts.charge, label: t('account.charge'), dialog: (close) => <ChargeDialog of={of} onClose={close} /> },
      { key: 'adjust', call: accounts.adjust, label: t('account.adjust'), dialog: (close) => <AdjustDialog of={of} onClose={close} /> },
      { key: 'limit', call: accounts.setCreditLimit, label: t('account.limit'), dialog: (close) => <LimitDialog of={of} onClose={close} /> },
    ],
  }
}

function Accounts() {
  const { t } = useTranslation('fund')
  const [search] = useSearchParams()
  const { actionsOf } = useAccountActions()
  return (
    <>
      <ResourceTable
        call={accounts.list}
        columns={[
          col.name<Account>('name', t('account.owner'), ({ name }) => name, {
            sort: true,
            width: 220,
            to: ({ id }) => withQuery(paths.billing.account(), { id }),
          }),
          amountColumn<Account>('balance', t('wallet.balance'), ({ balance }) => balance, { sort: true, width: 140 }),
          amountColumn<Account>('available', t('wallet.available'), ({ available }) => available, { width: 140 }),
          amountColumn<Account>('held', t('wallet.held'), ({ held }) => held, { width: 120, off: true }),
          amountColumn<Account>('credit_used', t('wallet.credit_used'), ({ credit_used }) => credit_used, { width: 130 }),
          amountColumn<Account>('credit_limit', t('wallet.creditLimit'), ({ credit_limit }) => credit_limit, { width: 130 }),
          amountColumn<Account>('arrears', t('wallet.arrears'), ({ arrears }) => arrears, { width: 120 }),
          col.date<Account>('created_at', t('account.opened'), ({ created_at }) => created_at, { sort: true }),
          col.code<Account>('id', t('account.id'), ({ id }) => id, { off: true }),
        ]}
        filters={[filter.keyword(t('account.keyword'))]}
        rowActions={actionsOf}
        empty={{ title: t('account.empty') }}
      />
      <AccountDrawer id={search.get('id')} />
    </>
  )
}

/** The account that the address names. */
function AccountDrawer({ id }: { readonly id: string | null }) {
  const { t } = useTranslation('fund')
  const [, setSearch] = useSearchParams()
  return (
    <Drawer open={id !== null} size={960} title={t('account.title')} onClose={() => setSearch({})}>
      {id !== null && <Shown key={id} id={id} />}
    </Drawer>
  )
}

function Shown({ id }: { readonly id: string }) {
  const { t } = useTranslation('fund')
  const { data, error, refetch } = useCall(accounts.wallet, { params: { id } }, { silent: true, refreshMs: 10_000 })
  const { actionsOf } = useAccountActions()
  if (data === undefined) return error === null ? <Skeleton active /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <>
      <div className="zs-toolbar bf-head">
        <h2>{data.name}</h2>
        <ActionMenu actions={actionsOf(data)} look="default" label={data.name} />
      </div>
      <Standing wallet={data} />
      <h3 className="bf-entries">{t('fund.tab.entries')}</h3>
      <EntryTable owner={id} path={paths.billing.account()} query={{ id }} />
    </>
  )
}

function ChargeDialog({ of, onClose }: Dialog<{ of: Wallet }>) {
  const { t } = useTranslation('fund')
  const charge = useChange(accounts.charge, { invalidates: invalidatedByTopup, silent: true })
  // Sent again after no answer came, it is the same payment.
  const [key] = useState(() => randomUuid())
  const { shape } = accounts.charge.body
  return (
    <FormDialog<{ amount: string; note: string }>
      title={t('account.chargeTitle', { name: of.name })}
      okText={t('account.charge')}
      initialValues={{ amount: '', note: '' }}
      doneText={t('account.charged')}
      onClose={onClose}
      onSubmit={(body) => charge.mutateAsync({ params: { id: of.id }, body: { ...body, key } })}
    >
      <p>
        {t('wallet.balance')} <Amount value={of.balance} />
      </p>
      <MoneyField name="amount" label={t('topup.amount')} extra={t('account.chargeNote')} schema={shape.amount} />
      <TextField name="note" label={t('note')} schema={shape.note} />
    </FormDialog>
  )
}

function AdjustDialog({ of, onClose }: Dialog<{ of: Wallet }>) {
  const { t } = useTranslation('fund')
  const adjust = useChange(accounts.adjust, { invalidates: invalidatedByTopup, silent: true })
  const [key] = useState(() => randomUuid())
  const { shape } = accounts.adjust.body
  return (
    <FormDialog<{ amount: string; note: string }>
      title={t('account.adjustTitle', { name: of.name })}
      okText={t('account.adjust')}
      initialValues={{ amount: '', note: '' }}
      doneText={t('account.adjusted')}
      onClose={onClose}
      onSubmit={(body) => adjust.mutateAsync({ params: { id: of.id }, body: { ...body, key } })}
    >
      <p>
        {t('wallet.available')} <Amount value={of.available} />
      </p>
      <MoneyField inputMode="text" name="amount" label={t('topup.amount')} extra={t('account.adjustNote')} schema={shape.amount} />
      <TextField name="note" label={t('account.adjustReason')} extra={t('account.adjustReasonNote')} schema={shape.note} />
    </FormDialog>
  )
}

function LimitDialog({ of, onClose }: Dialog<{ of: Wallet }>) {
  const { t } = useTranslation('fund')
  const set = useChange(accounts.setCreditLimit, { invalidates: invalidatedByTopup, silent: true })
  return (
    <FormDialog<{ credit_limit: string }>
      title={t('account.limitTitle', { name: of.name })}
      okText={t('action.save')}
      initialValues={{ credit_limit: of.credit_limit }}
      doneText={t('account.limitSet')}
      onClose={onClose}
      onSubmit={(body) => set.mutateAsync({ params: { id: of.id }, body })}
    >
      <Alert type="info" className="zs-above" title={t('account.limitNote')} />
      <p>
        {t('wallet.credit_used')} <Amount value={of.credit_used} />
      </p>
      <MoneyField name="credit_limit" label={t('wallet.creditLimit')} schema={accounts.setCreditLimit.body.shape.credit_limit} />
    </FormDialog>
  )
}
