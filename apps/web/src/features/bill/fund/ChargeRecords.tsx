import Button from 'antd/es/button'
import { topupCan, topupMethods, topups, topupStatuses, type Topup, type TopupStatus } from '@zhisuan/contract/bill/topup'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { saveFrom } from '../../../kit/save.ts'
import { SaveButtons } from '../../../kit/SaveButtons.tsx'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { paths, withQuery } from '../../../paths.ts'
import { amountColumn } from './Amount.tsx'
import { ConfirmArrival, RemittanceGuide, TopupDialog } from './TopupDialog.tsx'
import { invalidatedByTopup } from './invalidated.ts'

const tones: Readonly<Record<TopupStatus, StatusTone>> = { waiting: 'busy', confirmed: 'good', expired: 'warning', cancelled: 'rest' }

type Dialog = { readonly kind: 'topup' } | { readonly kind: 'guide'; readonly of: Topup } | { readonly kind: 'confirm'; readonly of: Topup | null }

/** Top-ups: when, how, how much, and what became of them. */
export default function ChargeRecords() {
  const { t } = useTranslation('fund')
  const platform = useIsPlatform()
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const cancel = useChange(topups.cancel, { invalidates: invalidatedByTopup })
  const resume = useChange(topups.resume)
  const save = useChange(topups.export, { onDone: ({ path }) => saveFrom(path) })
  const close = (): void => setDialog(null)
  const actionsOf = (topup: Topup): readonly Action[] => {
    const { id, method, status, code } = topup
    if (method === 'admin') return []
    const reason = (allowed: readonly TopupStatus[]): string | null => (allowed.includes(status) ? null : t(`topup.ended.${status}`))
    return [
      ...(platform && method === 'remittance'
        ? [
            {
              key: 'confirm',
              call: topups.confirm,
              label: t('arrival.confirm'),
              disabledReason: reason(topupCan.confirm),
              run: () => void setDialog({ kind: 'confirm', of: topup }),
            },
          ]
        : []),
      method === 'remittance'
        ? { key: 'guide', call: null, label: t('guide.show'), disabledReason: reason(topupCan.pay), run: () => void setDialog({ kind: 'guide', of: topup }) }
        : {
            key: 'resume',
            call: topups.resume,
            label: t('topup.resume'),
            disabledReason: reason(topupCan.pay),
            run: async () => window.location.assign((await resume.mutateAsync({ params: { id } })).url),
          },
      {
        key: 'cancel',
        call: topups.cancel,
        label: t('topup.cancel'),
        danger: true,
        disabledReason: reason(topupCan.cancel),
        confirm: { title: t('topup.cancelTitle', { code }), body: t(`topup.cancelBody.${method}`), keepText: t('topup.keep') },
        doneText: t('topup.cancelled'),
        run: () => cancel.mutateAsync({ params: { id } }),
      },
    ]
  }
  const columns: Column<Topup>[] = [
    col.date<Topup>('created_at', t('column.time'), ({ created_at }) => created_at, { sort: true }),
    col.text<Topup>('owner', t('column.owner'), ({ owner }) => owner.name, {
      when: platform,
      to: ({ owner }) => withQuery(paths.billing.account(), { id: owner.id }),
      width: 140,
    }),
    col.text<Topup>('method', t('topup.method'), ({ method, channel }) => channel?.name ?? t(`topup.way.${method}`), { width: 110 }),
    col.status<Topup>('status', t('column.state'), ({ status }) => ({ tone: tones[status], text: t(`topup.status.${status}`) }), { width: 90 }),
    amountColumn<Topup>('amount', t('topup.asked'), ({ amount }) => amount, { sort: true, width: 116 }),
    amountColumn<Topup>('received', t('topup.received'), ({ received }) => received, { width: 110 }),
    col.code<Topup>('code', t('topup.code'), ({ code }) => code, { width: 130 }),
    col.text<Topup>('note', t('note'), ({ note }) => note, { width: 110 }),
    col.code<Topup>('reference', t('topup.reference'), ({ reference }) => reference, { width: 140, off: true }),
    col.text<Topup>('by', t('column.by'), ({ created_by }) => created_by, { width: 120, off: true }),
    col.text<Topup>('confirmed_by', t('topup.confirmedBy'), ({ confirmed_by }) => confirmed_by, { width: 120, off: true }),
    col.text<Topup>('movement', t('column.movement'), ({ transaction_id }) => (transaction_id === null ? null : t('entry.show')), {
      to: ({ transaction_id, owner }) =>
        transaction_id === null ? null : withQuery(paths.billing.fund(), { movement: transaction_id, ...(platform && { owner: owner.id }) }),
      width: 70,
    }),
  ]
  return (
    <>
      <ResourceTable
        call={topups.list}
        columns={columns}
        filters={[
          filter.keyword(t(platform ? 'topup.keywordAll' : 'topup.keyword')),
          filter.oneOf('status', t('column.state'), topupStatuses, (value) => t(`topup.status.${value}`)),
          filter.oneOf('method', t('topup.method'), topupMethods, (value) => t(`topup.way.${value}`)),
        ]}
        rowActions={actionsOf}
        create={{ call: topups.remit, label: t('topup.title'), run: () => setDialog({ kind: 'topup' }) }}
        toolbar={(filters) => (
          <>
            {platform && <Button onClick={() => setDialog({ kind: 'confirm', of: null })}>{t('arrival.title')}</Button>}
            <SaveButtons pending={save.isPending} save={(format) => save.mutate({ body: { format, ...filters } })} />
          </>
        )}
        empty={{ title: t('topup.empty'), note: t('topup.emptyNote') }}
      />
      {dialog?.kind === 'topup' && <TopupDialog onClose={close} />}
      {dialog?.kind === 'guide' && <RemittanceGuide topup={dialog.of} onClose={close} />}
      {dialog?.kind === 'confirm' && <ConfirmArrival topup={dialog.of} onClose={close} />}
    </>
  )
}
