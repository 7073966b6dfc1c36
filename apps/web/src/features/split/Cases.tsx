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
  const side = (one: SplitCase['ours']): string => (one === null ? format.nothing : `${format.money(one.amount)} ${t(`case.state.${stateOf(one.status)}`)}`)
  return (
    <>
      <ResourceTable
        call={splitCases.list}
        name="cases"
        columns={[
          col.name<SplitCase>('day', t('case.day'), ({ day }) => day, { width: 120, sort: true, note: ({ reference }) => reference }),
          col.text<SplitCase>('kind', t('column.kind'), ({ kind }) => t(`case.kind.${kind}`), { width: 150, note: ({ provider }) => provider?.name ?? '' }),
          col.text<SplitCase>('ours', t('case.ours'), ({ ours }) => side(ours), { width: 160 }),
          col.text<SplitCase>('theirs', t('case.theirs'), ({ theirs }) => side(theirs), { width: 160 }),
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
          const decided = (agree: boolean) => () => decide.mutateAsync({ params: { id: one.id }, body: { agree } })
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
              confirm: { title: t('case.agreeTitle'), body: one.reason },
              doneText: t('case.agreed'),
              run: decided(true),
            },
            {
              key: 'refuse',
              call: splitCases.decide,
              label: t('case.refuse'),
              disabledReason: whyNot('decide'),
              doneText: t('case.refused'),
              run: decided(false),
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
          col.name<SplitReconciliation>('day', t('case.day'), ({ day }) => day, { width: 130, sort: true }),
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

function ProposeDialog({ of, onClose }: Dialog<{ of: SplitCase }>) {
  const { t } = useTranslation('split')
  const propose = useChange(splitCases.propose, how)
  return (
    <FormDialog<{ exit: 'accepted' | 'writtenOff'; reason: string }>
      title={t('case.propose')}
      okText={t('case.submit')}
      initialValues={{ exit: 'accepted', reason: '' }}
      doneText={t('case.proposed')}
      onClose={onClose}
      onSubmit={(body) => propose.mutateAsync({ params: { id: of.id }, body })}
    >
      <RadioField name="exit" label={t('case.exitLabel')} values={['accepted', 'writtenOff'] as const} labelOf={(exit) => t(`case.exitNote.${exit}`)} />
      <TextAreaField name="reason" label={t('case.reason')} schema={splitCases.propose.body.shape.reason} rows={3} />
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
