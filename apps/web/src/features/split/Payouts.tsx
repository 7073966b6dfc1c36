import { payoutCan, payoutStatuses, splitPayouts, type SplitBalance, type SplitPayout } from '@zhisuan/contract/split/payout'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { allowed } from '../../kit/allowed.ts'
import { col } from '../../kit/columns.tsx'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { MoneyField } from '../../kit/fields.tsx'
import { filter } from '../../kit/filters.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { ticketPath } from '../../kit/ticketPath.ts'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useMayCall } from '../../session/user.ts'
import { invalidatedByPayout, payoutTones } from './splitTexts.ts'
import './split.css'

const how = { invalidates: invalidatedByPayout, silent: true } as const

/** What a provider is owed and was paid, and its payouts. */
export function ProviderPayouts({ providerId }: { readonly providerId: string }) {
  const { t } = useTranslation('split')
  const { data, error, refetch } = useCall(
    splitPayouts.balance,
    { params: { id: providerId } },
    { silent: true, refreshMs: (balance) => whilePassing(balance, ({ transit }) => transit !== '0.00') },
  )
  const asks = useMayCall(splitPayouts.create)
  return (
    <>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      <dl className="sp-tiles">
        {(['pending', 'payable', 'transit', 'paid'] as const).map((account) => (
          <div key={account}>
            <dt>{t(`payout.balance.${account}`)}</dt>
            <dd>{format.exactMoney(data?.[account])}</dd>
          </div>
        ))}
      </dl>
      <PayoutTable
        of={{ provider_id: providerId }}
        {...(asks && data !== undefined && { asks: (close: () => void) => <PayoutDialog providerId={providerId} balance={data} onClose={close} /> })}
      />
    </>
  )
}

const periods = ({ runs }: SplitPayout): string => runs.map(({ period }) => period).join('、')

/** Payouts, with what is to be done about each by whoever looks. */
export function PayoutTable({ of = {}, asks }: { readonly of?: { readonly provider_id?: string }; readonly asks?: (close: () => void) => React.ReactNode }) {
  const { t } = useTranslation('split')
  const withdraw = useChange(splitPayouts.withdraw, how)
  const query = useChange(splitPayouts.query, how)
  const decides = useMayCall(splitPayouts.approve)
  return (
    <ResourceTable
      call={splitPayouts.list}
      name="payouts"
      input={{ query: of }}
      passing={({ status, needs_approval }) => status === 'claimed' || status === 'sent' || (status === 'asked' && !needs_approval)}
      columns={[
        // On the page of one provider only which months it pays.
        of.provider_id === undefined
          ? col.name<SplitPayout>('provider', t('column.provider'), ({ provider }) => provider.name, { width: 160, note: periods })
          : col.name<SplitPayout>('period', t('column.period'), (payout) => periods(payout) || format.nothing, { width: 110 }),
        col.money<SplitPayout>('amount', t('payout.amount'), ({ amount }) => amount, { width: 130, sort: true }),
        col.status<SplitPayout>(
          'status',
          t('column.status'),
          ({ status, needs_approval, reason }) => ({
            tone: payoutTones[status],
            text: needs_approval ? t('payout.toApprove') : t(`payout.status.${status}`),
            note: reason === '' ? null : reason,
          }),
          { width: 120 },
        ),
        col.text<SplitPayout>('account', t('bank.account'), ({ account }) => account, { width: 160 }),
        col.code<SplitPayout>('reference', t('payout.reference'), ({ reference }) => reference, { width: 120 }),
        col.text<SplitPayout>('asked_by', t('payout.askedBy'), ({ asked_by }) => asked_by, { width: 110, note: ({ approved_by }) => approved_by ?? '' }),
        col.date<SplitPayout>('created_at', t('payout.askedAt'), ({ created_at }) => created_at, { sort: true }),
        col.date<SplitPayout>('done_at', t('payout.doneAt'), ({ done_at }) => done_at),
      ]}
      filters={[filter.oneOf('status', t('column.status'), payoutStatuses, (one) => t(`payout.status.${one}`))]}
      rowActions={(payout: SplitPayout) => {
        const whyNot = (action: keyof typeof payoutCan) => allowed(payoutCan, action, payout.status, t(`payout.status.${payout.status}`))
        return [
          ...(decides
            ? [
                {
                  key: 'approve',
                  call: splitPayouts.approve,
                  label: t('payout.approve'),
                  disabledReason: payout.status === 'asked' && !payout.needs_approval ? t('payout.needsNoApproval') : whyNot('approve'),
                  dialog: (close: () => void) => <ApproveDialog payout={payout} onClose={close} />,
                },
                {
                  key: 'query',
                  call: splitPayouts.query,
                  label: t('payout.query'),
                  disabledReason: whyNot('query'),
                  doneText: t('payout.queried'),
                  run: () => query.mutateAsync({ params: { id: payout.id } }),
                },
                {
                  key: 'withdraw',
                  call: splitPayouts.withdraw,
                  label: t('payout.withdraw'),
                  danger: true,
                  disabledReason: whyNot('withdraw'),
                  confirm: { title: t('payout.withdrawTitle', { amount: format.money(payout.amount) }), body: t('payout.withdrawBody') },
                  doneText: t('payout.withdrawn'),
                  run: () => withdraw.mutateAsync({ params: { id: payout.id } }),
                },
              ]
            : []),
          ...(payout.status !== 'failed' && payout.status !== 'returned'
            ? []
            : [
                {
                  key: 'ticket',
                  // Everybody may.
                  call: null,
                  label: t('run.ticket'),
                  href: ticketPath({
                    about: { kind: 'split.payout', id: payout.id, name: `${payout.provider.name} ${payout.amount}` },
                    type: 'split',
                    title: t('payout.ticketTitle', {
                      name: payout.provider.name,
                      amount: format.money(payout.amount),
                      status: t(`payout.status.${payout.status}`),
                    }),
                    text: payout.reason,
                  }),
                },
              ]),
        ]
      }}
      {...(asks !== undefined && { create: { call: splitPayouts.create, label: t('payout.create'), plain: true, dialog: asks } })}
      empty={{ title: t('payout.empty'), note: t('payout.emptyNote') }}
    />
  )
}

function PayoutDialog({ providerId, balance, onClose }: Dialog<{ providerId: string; balance: SplitBalance }>) {
  const { t } = useTranslation('split')
  const create = useChange(splitPayouts.create, how)
  // What banks pay is whole fen: the rest stays owed.
  const payable = /^\d+\.\d\d/.exec(balance.payable)?.[0] ?? ''
  return (
    <FormDialog<{ amount: string }>
      title={t('payout.create')}
      okText={t('payout.create')}
      initialValues={{ amount: payable }}
      doneText={t('payout.created')}
      onClose={onClose}
      onSubmit={({ amount }) => create.mutateAsync({ body: { provider_id: providerId, amount } })}
    >
      <p className="zs-soft">
        {t('payout.createNote', {
          payable: format.exactMoney(balance.payable),
          least: format.money(balance.least),
          most: format.money(balance.most),
          above: format.money(balance.approved_above),
        })}
      </p>
      <MoneyField name="amount" label={t('payout.amount')} schema={splitPayouts.create.body.shape.amount} />
    </FormDialog>
  )
}

function ApproveDialog({ payout, onClose }: Dialog<{ payout: SplitPayout }>) {
  const { t } = useTranslation('split')
  const approve = useChange(splitPayouts.approve, how)
  const { asking, passwordField } = useAskedPassword()
  return (
    <FormDialog<{ password?: string }>
      title={t('payout.approve')}
      okText={t('payout.approve')}
      initialValues={{}}
      doneText={t('payout.approved')}
      onClose={onClose}
      onSubmit={(body) => asking(() => approve.mutateAsync({ params: { id: payout.id }, body }))}
    >
      <p>{t('payout.approveBody', { amount: format.money(payout.amount), name: payout.provider.name, by: payout.asked_by, account: payout.account ?? '' })}</p>
      {passwordField}
    </FormDialog>
  )
}
