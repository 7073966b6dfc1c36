import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { invoiceCan, invoices, invoiceStatuses, invoiceTitles, type Invoice, type InvoiceStatus } from '@zhisuan/contract/bill/invoice'
import dayjs from 'dayjs'
import { Fragment, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { SelectField } from '../../../kit/SelectField.tsx'
import { DayInput } from '../../../kit/dates.tsx'
import { Field, TextAreaField, TextField } from '../../../kit/fields.tsx'
import { filter } from '../../../kit/filters.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { saveFrom } from '../../../kit/save.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { Amount, amountColumn } from './Amount.tsx'
import { TitleDialog } from './TitleTable.tsx'
import { invalidatedByInvoice } from './invalidated.ts'
import './fund.css'

const tones: Readonly<Record<InvoiceStatus, StatusTone>> = { asked: 'busy', issued: 'good', rejected: 'bad', withdrawn: 'rest', voided: 'warning' }

type Dialog = { readonly kind: 'ask' } | { readonly kind: 'issue' | 'reject' | 'void'; readonly of: Invoice }

/** Invoices, asked for by whom they are about, and issued by administrators. */
export function InvoiceTable() {
  const { t } = useTranslation('fund')
  const platform = useIsPlatform()
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const withdraw = useChange(invoices.withdraw, { invalidates: invalidatedByInvoice })
  const download = useChange(invoices.download)
  const actionsOf = (invoice: Invoice): readonly Action[] => {
    const { id, status } = invoice
    const reason = (allowed: readonly InvoiceStatus[]): string | null => (allowed.includes(status) ? null : t(`invoice.is.${status}`))
    const openDialog = (kind: 'issue' | 'reject' | 'void') => () => void setDialog({ kind, of: invoice })
    return [
      {
        key: 'download',
        call: invoices.download,
        label: t('invoice.download'),
        disabledReason: reason(invoiceCan.download),
        run: async () => saveFrom((await download.mutateAsync({ params: { id } })).path),
      },
      ...(platform
        ? [
            { key: 'issue', call: invoices.issue, label: t('invoice.issue'), disabledReason: reason(invoiceCan.issue), run: openDialog('issue') },
            {
              key: 'reject',
              call: invoices.reject,
              label: t('invoice.reject'),
              danger: true,
              disabledReason: reason(invoiceCan.reject),
              run: openDialog('reject'),
            },
            { key: 'void', call: invoices.void, label: t('invoice.void'), danger: true, disabledReason: reason(invoiceCan.void), run: openDialog('void') },
          ]
        : []),
      {
        key: 'withdraw',
        call: invoices.withdraw,
        label: t('invoice.withdraw'),
        danger: true,
        disabledReason: reason(invoiceCan.withdraw),
        confirm: { title: t('invoice.withdrawTitle'), body: t('invoice.withdrawBody') },
        doneText: t('invoice.withdrawn'),
        run: () => withdraw.mutateAsync({ params: { id } }),
      },
    ]
  }
  const columns: Column<Invoice>[] = [
    col.date<Invoice>('created_at', t('invoice.askedAt'), ({ created_at }) => created_at, { sort: true }),
    col.text<Invoice>('owner', t('column.owner'), ({ owner }) => owner.name, { when: platform, width: 150 }),
    col.text<Invoice>('title', t('invoice.title'), ({ title }) => title.name, { width: 200, note: ({ title }) => title.tax_number }),
    col.text<Invoice>('span', t('invoice.span'), ({ from }) => from, { width: 110, note: ({ to }) => to }),
    amountColumn<Invoice>('amount', t('invoice.amount'), ({ amount }) => amount, { sort: true, width: 120 }),
    col.status<Invoice>('status', t('column.state'), ({ status, reason }) => ({ tone: tones[status], text: t(`invoice.status.${status}`), note: reason }), {
      width: 130,
    }),
    col.code<Invoice>('number', t('invoice.number'), ({ number }) => number, { width: 190 }),
    col.date<Invoice>('issued_at', t('invoice.issuedAt'), ({ issued_at }) => issued_at),
    col.text<Invoice>('note', t('note'), ({ note }) => note, { width: 140, off: true }),
    col.text<Invoice>('by', t('column.by'), ({ created_by }) => created_by, { width: 120, off: true }),
  ]
  return (
    <>
      <ResourceTable
        call={invoices.list}
        name="invoices"
        columns={columns}
        filters={[filter.keyword(t('invoice.keyword')), filter.oneOf('status', t('column.state'), invoiceStatuses, (value) => t(`invoice.status.${value}`))]}
        rowActions={actionsOf}
        create={{ call: invoices.create, label: t('invoice.ask'), run: () => setDialog({ kind: 'ask' }) }}
        empty={{ title: t('invoice.empty'), note: t('invoice.emptyNote') }}
      />
      {dialog?.kind === 'ask' && <AskDialog onClose={() => setDialog(null)} />}
      {dialog?.kind === 'issue' && <IssueDialog of={dialog.of} onClose={() => setDialog(null)} />}
      {(dialog?.kind === 'reject' || dialog?.kind === 'void') && <ReasonDialog kind={dialog.kind} of={dialog.of} onClose={() => setDialog(null)} />}
    </>
  )
}

interface Asked {
  from: string
  to: string
  title_id: string
  note: string
}

function AskDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('fund')
  const [form] = Form.useForm<Asked>()
  const [adding, setAdding] = useState(false)
  const titles = useCall(invoiceTitles.list, {}, { silent: true })
  const create = useChange(invoices.create, { invalidates: invalidatedByInvoice, silent: true })
  // The last whole month: what most people ask for.
  const month = dayjs().subtract(1, 'month')
  const initial = { from: month.startOf('month').format('YYYY-MM-DD'), to: month.endOf('month').format('YYYY-MM-DD'), note: '' }
  const [from = initial.from, to = initial.to] = [Form.useWatch('from', form), Form.useWatch('to', form)]
  const available = useCall(invoices.available, { query: { from, to } }, { silent: true, enabled: from !== '' && to !== '' && from <= to })
  if (adding) return <TitleDialog title={null} onClose={() => setAdding(false)} />
  const items = titles.data?.items ?? []
  return (
    <FormDialog<Asked>
      form={form}
      title={t('invoice.ask')}
      okText={t('invoice.submit')}
      initialValues={initial}
      doneText={t('invoice.askedDone')}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body })}
    >
      <div className="bf-days">
        <Field name="from" label={t('period.from')} schema={invoices.available.query.shape.from}>
          <DayInput />
        </Field>
        <Field name="to" label={t('period.to')} schema={invoices.available.query.shape.to}>
          <DayInput />
        </Field>
      </div>
      {available.data !== undefined && (
        <Alert
          type="info"
          className="zs-above"
          title={
            <>
              {t('invoice.would')} <Amount value={available.data.uninvoiced} />
            </>
          }
          description={
            <>
              {available.data.lines
                .filter(({ late }) => late)
                .map((line) => (
                  <div key={line.from}>
                    {t('invoice.late', line)} <Amount value={line.amount} />
                  </div>
                ))}
              {t('invoice.paid')} <Amount value={available.data.paid} />
            </>
          }
        />
      )}
      <SelectField
        name="title_id"
        label={t('invoice.title')}
        missing={t('invoice.titleRequired')}
        extra={
          <Button type="link" size="small" onClick={() => setAdding(true)}>
            {t('title.add')}
          </Button>
        }
        loading={titles.isPending}
        placeholder={t('invoice.chooseTitle')}
        notFoundContent={t('title.empty')}
        options={items.map(({ id, name, tax_number }) => ({ value: id, label: tax_number === '' ? name : `${name}（${tax_number}）` }))}
      />
      <TextField name="note" label={t('note')} />
    </FormDialog>
  )
}

function IssueDialog({ of, onClose }: { readonly of: Invoice; readonly onClose: () => void }) {
  const { t } = useTranslation('fund')
  const issue = useChange(invoices.issue, { invalidates: invalidatedByInvoice, silent: true })
  return (
    <FormDialog<{ number: string }>
      title={t('invoice.issueTitle', { name: of.title.name })}
      okText={t('invoice.issue')}
      initialValues={{ number: '' }}
      doneText={t('invoice.issuedDone')}
      onClose={onClose}
      onSubmit={(body) => issue.mutateAsync({ params: { id: of.id }, body })}
    >
      <dl className="bf-facts">
        <dt>{t('invoice.amount')}</dt>
        <dd>
          <Amount value={of.amount} />
        </dd>
        <dt>{t('invoice.span')}</dt>
        <dd>
          {of.from} ~ {of.to}
        </dd>
        {of.lines
          .filter(({ late }) => late)
          .map((line) => (
            <Fragment key={line.from}>
              <dt>{t('invoice.late', line)}</dt>
              <dd>
                <Amount value={line.amount} />
              </dd>
            </Fragment>
          ))}
        <dt>{t('title.taxNumber')}</dt>
        <dd className="zs-code">{of.title.tax_number}</dd>
      </dl>
      <TextField name="number" label={t('invoice.number')} extra={t('invoice.numberNote')} schema={invoices.issue.body.shape.number} code inputMode="numeric" />
    </FormDialog>
  )
}

function ReasonDialog({ kind, of, onClose }: { readonly kind: 'reject' | 'void'; readonly of: Invoice; readonly onClose: () => void }) {
  const { t } = useTranslation('fund')
  const reject = useChange(invoices.reject, { invalidates: invalidatedByInvoice, silent: true })
  const makeVoid = useChange(invoices.void, { invalidates: invalidatedByInvoice, silent: true })
  const change = kind === 'reject' ? reject : makeVoid
  return (
    <FormDialog<{ reason: string }>
      title={t(`invoice.${kind}Title`, { name: of.title.name })}
      okText={t(`invoice.${kind}`)}
      initialValues={{ reason: '' }}
      doneText={t(`invoice.${kind}Done`)}
      onClose={onClose}
      onSubmit={(body) => change.mutateAsync({ params: { id: of.id }, body })}
    >
      <Alert type="warning" showIcon className="zs-above" title={t(`invoice.${kind}Note`)} />
      <TextAreaField name="reason" label={t('invoice.reason')} schema={invoices.reject.body.shape.reason} autoSize={{ minRows: 2, maxRows: 6 }} />
    </FormDialog>
  )
}
