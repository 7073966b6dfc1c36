import { runCan, runStatuses, splitRuns, type SplitRun, statementFormats } from '@zhisuan/contract/split/contract'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { allowed } from '../../kit/allowed.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { saveFrom } from '../../kit/save.ts'
import { ticketPath } from '../../kit/ticketPath.ts'
import { useMayCall } from '../../session/user.ts'
import { invalidatedBySplit, runTones } from './splitTexts.ts'

const RunDetail = lazy(() => import('./RunDetail.tsx'))
const RunCreate = lazy(() => import('./RunDialogs.tsx').then((module) => ({ default: module.RunCreate })))
const RunText = lazy(() => import('./RunDialogs.tsx').then((module) => ({ default: module.RunText })))

/** Months that were split, with what is to be done about each by whoever looks. */
export function RunTable({
  of = {},
  creates = false,
}: {
  readonly of?: { readonly provider_id?: string; readonly contract_id?: string }
  readonly creates?: boolean
}) {
  const { t } = useTranslation('split')
  const how = { invalidates: invalidatedBySplit, silent: true } as const
  const confirm = useChange(splitRuns.confirm, how)
  const save = useChange(splitRuns.export)
  // A provider confirms, and others answer and pay: what is nobody's of this person is not offered.
  const [confirms, answers] = [useMayCall(splitRuns.confirm), useMayCall(splitRuns.answer)]
  const actionsOf = (run: SplitRun): readonly Action[] => {
    const whyNot = (action: keyof typeof runCan) => allowed(runCan, action, run.status, t(`status.${run.status}`))
    const text = (which: 'dispute' | 'answer' | 'pay') => (close: () => void) => <RunText run={run} which={which} onClose={close} />
    return [
      { key: 'detail', call: splitRuns.get, label: t('run.detail'), dialog: (close) => <RunDetail id={run.id} onClose={close} /> },
      ...(confirms
        ? [
            {
              key: 'confirm',
              call: splitRuns.confirm,
              label: t('run.confirm'),
              disabledReason: whyNot('confirm'),
              confirm: { title: t('run.confirmTitle', { period: run.period }), body: t('run.confirmBody') },
              doneText: t('run.confirmed'),
              run: () => confirm.mutateAsync({ params: { id: run.id } }),
            },
            { key: 'dispute', call: splitRuns.dispute, label: t('run.dispute'), disabledReason: whyNot('dispute'), dialog: text('dispute') },
          ]
        : []),
      ...(answers
        ? [
            { key: 'answer', call: splitRuns.answer, label: t('run.answer'), disabledReason: whyNot('answer'), dialog: text('answer') },
            { key: 'pay', call: splitRuns.pay, label: t('run.pay'), disabledReason: whyNot('pay'), dialog: text('pay') },
          ]
        : []),
      ...(run.dispute === null
        ? []
        : [
            {
              key: 'ticket',
              // Everybody may.
              call: null,
              label: t('run.ticket'),
              href: ticketPath({
                about: { kind: 'split.run', id: run.id, name: `${run.contract.name} ${run.period}` },
                type: 'split',
                title: t('run.ticketTitle', { name: run.contract.name, period: run.period }),
                text: run.dispute,
              }),
            },
          ]),
      ...statementFormats.map((as) => ({
        key: as,
        call: splitRuns.export,
        label: t('run.save', { format: as.toUpperCase() }),
        run: async () => saveFrom((await save.mutateAsync({ params: { id: run.id }, body: { format: as } })).path),
      })),
    ]
  }
  return (
    <ResourceTable
      call={splitRuns.list}
      input={{ query: of }}
      columns={[
        col.name<SplitRun>('period', t('column.period'), ({ period }) => period, {
          width: 110,
          sort: true,
          note: ({ version }) => t('versionOf', { number: version }),
        }),
        col.text<SplitRun>('contract', t('column.contract'), ({ contract }) => contract.name, { width: 170, note: ({ provider }) => provider.name }),
        col.status<SplitRun>(
          'status',
          t('column.status'),
          ({ status, dispute }) => ({ tone: runTones[status], text: t(`status.${status}`), note: status === 'disputed' ? dispute : null }),
          {
            width: 150,
          },
        ),
        col.charge<SplitRun>('base', t('column.base'), ({ base }) => base, { width: 140 }),
        col.charge<SplitRun>('theirs', t('column.theirs'), ({ shares }) => shares[1]?.amount, { width: 140 }),
        {
          ...col.text<SplitRun>('lines', t('column.lines'), ({ line_count }) => format.number(line_count), {
            width: 120,
            note: ({ late_count }) => (late_count > 0 ? t('late', { count: late_count }) : ''),
          }),
          align: 'right',
          className: 'zs-number',
        },
        col.date<SplitRun>('confirm_by', t('column.confirmBy'), ({ confirm_by }) => confirm_by),
        col.text<SplitRun>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110 }),
        col.date<SplitRun>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
      ]}
      filters={[filter.oneOf('status', t('column.status'), runStatuses, (one) => t(`status.${one}`))]}
      rowActions={actionsOf}
      {...(creates && { create: { call: splitRuns.create, label: t('run.create'), dialog: (close: () => void) => <RunCreate onClose={close} /> } })}
      empty={{ title: t('run.empty'), note: t('run.emptyNote') }}
    />
  )
}
