import Form from 'antd/es/form'
import {
  caseAskable,
  caseCan,
  caseKinds,
  caseStatuses,
  splitCases,
  splitReconciliations,
  type SplitCase,
  type SplitReconciliation,
} from '@zhisuan/contract/split/reconciliation'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { allowed } from '../../kit/allowed.ts'
import { col } from '../../kit/columns.tsx'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import { RadioField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { filter } from '../../kit/filters.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { caseTones, invalidatedByPayout } from './splitTexts.ts'
import './split.css'

const how = { invalidates: invalidatedByPayout, silent: true } as const

/** What the channel's files and our payouts do not agree about, and the days that were compared. */
export function Cases() {
  const { t } = useTranslation('split')
  const ask = useChange(splitCases.ask, how)
  const decide = useChange(splitCases.decide, how)
  return (
    <>
      <ResourceTable
        call={splitCases.list}
        name="cases"
        columns={[
          col.name<SplitCase>('day', t('case.day'), ({ day }) => day, { width: 120, sort: true, note: ({ reference }) => reference }),
          col.text<SplitCase>('kind', t('column.kind'), ({ kind }) => t(`case.kind.${kind}`), { width: 150, note: ({ provider }) => provider?.name ?? '' }),
          ...(['ours', 'theirs'] as const).map((whose) =>
            col.charge<SplitCase>(whose, t(`case.${whose}`), (one) => one[whose]?.amount, {
              width: 130,
              note: ({ [whose]: side }) => (side === null ? '' : t(`case.state.${stateOf(side.status)}`)),
            }),
          ),
          col.status<SplitCase>(
            'status',
            t('column.status'),
            ({ status, exit, reason }) => ({
              tone: caseTones[status],
              text: exit === null || status === 'open' ? t(`case.status.${status}`) : `${t(`case.status.${status}`)}：${t(`case.exit.${exit}`)}`,
              note: reason === '' ? null : reason,
            }),
            { width: 180 },
          ),
          col.text<SplitCase>('by', t('case.by'), ({ proposed_by }) => proposed_by, { width: 110, note: ({ decided_by }) => decided_by ?? '' }),
          col.date<SplitCase>('created_at', t('case.found'), ({ created_at }) => created_at, { sort: true }),
        ]}
        filters={[
          filter.oneOf('status', t('column.status'), caseStatuses, (one) => t(`case.status.${one}`)),
          filter.oneOf('kind', t('column.kind'), caseKinds, (one) => t(`case.kind.${one}`)),
        ]}
        rowActions={(one) => {
          const whyNot = (action: keyof typeof caseCan) => allowed(caseCan, action, one.status, t(`case.status.${one.status}`))
          return [
            {
              key: 'ask',
              call: splitCases.ask,
              label: t('case.ask'),
              disabledReason: caseAskable.includes(one.kind) ? whyNot('ask') : t('case.unaskable'),
              doneText: t('case.settled'),
              run: () => ask.mutateAsync({ params: { id: one.id } }),
            },
            {
              key: 'propose',
              call: splitCases.propose,
              label: t('case.propose'),
              disabledReason: whyNot('propose'),
              dialog: (close) => <ProposeDialog of={one} onClose={close} />,
            },
            {
              key: 'agree',
              call: splitCases.decide,
              label: t('case.agree'),
              disabledReason: whyNot('decide'),
              dialog: (close) => <AgreeDialog of={one} onClose={close} />,
            },
            {
              key: 'refuse',
              call: splitCases.decide,
              label: t('case.refuse'),
              disabledReason: whyNot('decide'),
              doneText: t('case.refused'),
              run: () => decide.mutateAsync({ params: { id: one.id }, body: { agree: false } }),
            },
          ]
        }}
        empty={{ title: t('case.empty'), note: t('case.emptyNote') }}
      />
      <h2 className="sp-head">{t('case.days')}</h2>
      <ResourceTable
        call={splitReconciliations.list}
        name="days"
        passing={({ status }) => status === 'due'}
        columns={[
          col.name<SplitReconciliation>('day', t('case.day'), ({ day }) => day, {
            width: 150,
            sort: true,
            note: ({ merchant_id }) => `${t('channel.merchant')} ${merchant_id}`,
          }),
          col.status<SplitReconciliation>(
            'status',
            t('column.status'),
            ({ status, failed }) => ({
              tone: failed ? 'bad' : status === 'due' ? 'busy' : 'good',
              text: t(failed ? 'case.dayFailed' : status === 'due' ? 'case.dayDue' : 'case.dayDone'),
            }),
            { width: 130 },
          ),
          col.number<SplitReconciliation>('rows', t('case.rows'), ({ row_count }) => row_count, { width: 100 }),
          col.number<SplitReconciliation>('cases', t('case.count'), ({ case_count }) => case_count, { width: 100 }),
          col.number<SplitReconciliation>('open', t('case.openCount'), ({ open_count }) => open_count, { width: 100 }),
          col.date<SplitReconciliation>('finished_at', t('case.finished'), ({ finished_at }) => finished_at),
        ]}
        create={{ call: splitReconciliations.create, label: t('case.again'), plain: true, dialog: (close) => <DayDialog onClose={close} /> }}
        empty={{ title: t('case.noDays'), note: t('case.noDaysNote') }}
      />
    </>
  )
}

const states = ['done', 'failed', 'returned', 'open'] as const
const stateOf = (status: string): (typeof states)[number] => states.find((one) => one === status) ?? 'open'

type Exit = SplitCase['exits'][number]

/** What an exit changes: the payout, and where its money stands. */
function Changes({ of }: { readonly of: Exit | undefined }) {
  const { t } = useTranslation('split')
  if (of === undefined) return null
  const { status, moves } = of
  return (
    <div role="status" aria-label={t('case.changes')}>
      <dl className="sp-moves">
        {status !== null && (
          <div>
            <dt>{t('case.payoutBecomes')}</dt>
            <dd>{t(`payout.status.${status}`)}</dd>
          </div>
        )}
        {moves.map(({ account, amount }) => (
          <div key={account}>
            <dt>{t(`case.account.${account}`)}</dt>
            <dd className="zs-number">{amount.startsWith('-') ? format.exactMoney(amount) : `+${format.exactMoney(amount)}`}</dd>
          </div>
        ))}
        {status === null && moves.length === 0 && (
          <div>
            <dt>{t('case.noChange')}</dt>
          </div>
        )}
      </dl>
    </div>
  )
}

function ProposeDialog({ of, onClose }: Dialog<{ of: SplitCase }>) {
  const { t } = useTranslation('split')
  const propose = useChange(splitCases.propose, how)
  const [form] = Form.useForm<{ exit: Exit['exit']; reason: string }>()
  const exit = Form.useWatch('exit', form)
  return (
    <FormDialog<{ exit: Exit['exit']; reason: string }>
      form={form}
      title={t('case.propose')}
      okText={t('case.submit')}
      initialValues={{ exit: 'accepted', reason: '' }}
      doneText={t('case.proposed')}
      onClose={onClose}
      onSubmit={(body) => propose.mutateAsync({ params: { id: of.id }, body })}
    >
      <RadioField name="exit" label={t('case.exitLabel')} values={of.exits.map((one) => one.exit)} labelOf={(one) => t(`case.exitNote.${one}`)} />
      <Changes of={of.exits.find((one) => one.exit === exit)} />
      <TextAreaField name="reason" label={t('case.reason')} schema={splitCases.propose.body.shape.reason} rows={3} />
    </FormDialog>
  )
}

function AgreeDialog({ of, onClose }: Dialog<{ of: SplitCase }>) {
  const { t } = useTranslation('split')
  const decide = useChange(splitCases.decide, how)
  const { asking, passwordField } = useAskedPassword()
  return (
    <FormDialog<{ password?: string }>
      title={t('case.agreeTitle')}
      okText={t('case.agree')}
      initialValues={{}}
      doneText={t('case.agreed')}
      onClose={onClose}
      onSubmit={(body) => asking(() => decide.mutateAsync({ params: { id: of.id }, body: { ...body, agree: true } }))}
    >
      <p>{of.exit !== null && of.exit !== 'settled' && t(`case.exitNote.${of.exit}`)}</p>
      <blockquote>{of.reason}</blockquote>
      <Changes of={of.exits.find((one) => one.exit === of.exit)} />
      {passwordField}
    </FormDialog>
  )
}

function DayDialog({ onClose }: Dialog) {
  const { t } = useTranslation('split')
  const create = useChange(splitReconciliations.create, how)
  return (
    <FormDialog<{ day: string }>
      title={t('case.again')}
      okText={t('case.again')}
      initialValues={{ day: '' }}
      doneText={t('case.asked')}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body })}
    >
      <p className="zs-soft">{t('case.againNote')}</p>
      <TextField name="day" label={t('case.day')} placeholder="2026-11-28" schema={splitReconciliations.create.body.shape.day} code />
    </FormDialog>
  )
}
