import { notices } from '@zhisuan/contract/bill/notice'
import { ActionButton } from '../../../kit/actions.tsx'
import { budgets, type Budget } from '@zhisuan/contract/bill/budget'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { useIsPlatform, useMayCall } from '../../../session/user.ts'
import { BudgetDialog } from './BudgetDialog.tsx'
import { ContactsDialog } from './ContactsDialog.tsx'

/** What months may cost and what this one has, with the ways to change that. Needs the messages of `arrears`. */
export function Budgets() {
  const { t } = useTranslation('arrears')
  const platform = useIsPlatform()
  const may = useMayCall(budgets.create)
  const remove = useChange(budgets.delete, { invalidates: [budgets.list] })
  const state = ({ percent, thresholds, forecast }: Budget): { tone: StatusTone; text: string } => {
    if (percent >= 100) return { tone: 'bad', text: t('budget.over') }
    if ((forecast?.percent ?? 0) >= 100) return { tone: 'warning', text: t('budget.willBeOver') }
    return percent >= (thresholds[0] ?? 100) ? { tone: 'warning', text: t('budget.near') } : { tone: 'good', text: t('budget.within') }
  }
  const percents = (reached: Budget['reached']): string => reached.map(({ percent }) => format.percent(percent / 100)).join('、')
  const toldOf = ({ reached, forecast_reached }: Budget): string | null =>
    [
      ...(reached.length === 0 ? [] : [t('budget.reached', { percents: percents(reached) })]),
      ...(forecast_reached.length === 0 ? [] : [t('budget.forecastReached', { percents: percents(forecast_reached) })]),
    ].join('；') || null
  const scope = ({ project, product }: Budget): string => {
    if (project !== null) return t('budget.project', { name: project.name })
    return product === null ? t('budget.whole') : t('budget.product', { name: product.name })
  }
  return (
    <>
      <ResourceTable
        call={budgets.list}
        name="budgets"
        columns={[
          col.name<Budget>('name', t('budget.name'), ({ name }) => name, { sort: true, width: 160 }),
          col.text<Budget>('organisation', t('budget.organisation'), ({ organisation }) => organisation.name, { when: platform, width: 110 }),
          col.text<Budget>('scope', t('budget.scope'), scope, { width: 130 }),
          col.money<Budget>('amount', t('budget.amount'), ({ amount }) => amount, { width: 120 }),
          {
            ...col.custom<Budget>(
              'spent',
              t('budget.spent'),
              ({ spent, percent }) => <Share amount={spent} percent={percent} title={format.exactMoney(spent)} />,
              { width: 130 },
            ),
            align: 'right',
            className: 'zs-number',
          },
          {
            ...col.custom<Budget>('forecast', t('budget.forecast'), (budget) => <Foreseen budget={budget} />, { width: 130 }),
            align: 'right',
            className: 'zs-number',
          },
          col.status<Budget>('state', t('standing.state'), (budget) => ({ ...state(budget), note: toldOf(budget) }), { width: 150 }),
        ]}
        filters={[filter.keyword(t('budget.keyword'))]}
        create={may ? { call: budgets.create, label: t('budget.create'), dialog: (close) => <BudgetDialog budget={null} onClose={close} /> } : null}
        toolbar={
          may &&
          !platform && (
            <ActionButton
              look="default"
              action={{ key: 'contacts', call: notices.setContacts, label: t('contacts.edit'), dialog: (close) => <ContactsDialog onClose={close} /> }}
            />
          )
        }
        rowActions={(budget) =>
          may
            ? [
                {
                  key: 'edit',
                  call: budgets.update,
                  label: t('budget.edit'),
                  dialog: (close) => <BudgetDialog budget={budget} onClose={close} />,
                },
                {
                  key: 'delete',
                  call: budgets.delete,
                  label: t('budget.delete'),
                  danger: true,
                  confirm: { title: t('budget.deleteTitle', { name: budget.name }), body: t('budget.deleteBody') },
                  doneText: t('budget.deleted', { name: budget.name }),
                  run: () => remove.mutateAsync({ params: { id: budget.id } }),
                },
              ]
            : []
        }
        empty={{ title: t('budget.none'), note: t('budget.noneNote') }}
      />
    </>
  )
}

/** What the month is expected to come to; it is looked at once an hour. */
function Foreseen({ budget: { forecast } }: { readonly budget: Budget }) {
  const { t } = useTranslation('arrears')
  if (forecast === null) return <span title={t('budget.forecastLater')}>{format.nothing}</span>
  return (
    <Share
      amount={forecast.amount}
      percent={forecast.percent}
      title={t('budget.forecastAt', { at: format.dateTime(forecast.at), amount: format.exactMoney(forecast.amount) })}
    />
  )
}

/** An amount, and how much of the budget that is. */
const Share = ({ amount, percent, title }: { readonly amount: string; readonly percent: number; readonly title: string }) => (
  <div title={title}>
    {format.money(amount)}
    <div className="zs-name-note">{format.percent(percent / 100)}</div>
  </div>
)
