import Button from 'antd/es/button'
import { budgets, type Budget } from '@zhisuan/contract/bill/budget'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
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
  const [dialog, setDialog] = useState<'create' | Budget | null>(null)
  const [contacts, setContacts] = useState(false)
  const remove = useChange(budgets.delete, { invalidates: [budgets.list] })
  const create = may && (
    <Button type="primary" onClick={() => setDialog('create')}>
      {t('budget.create')}
    </Button>
  )
  const state = ({ percent, thresholds }: Budget): { tone: StatusTone; text: string } => {
    if (percent >= 100) return { tone: 'bad', text: t('budget.over') }
    return percent >= (thresholds[0] ?? 100) ? { tone: 'warning', text: t('budget.near') } : { tone: 'good', text: t('budget.within') }
  }
  const scope = ({ project, product }: Budget): string => {
    if (project !== null) return t('budget.project', { name: project.name })
    return product === null ? t('budget.whole') : t('budget.product', { name: product.name })
  }
  return (
    <>
      <ResourceTable
        call={budgets.list}
        name="budgets"
        rows={({ items }) => items}
        rowKey="id"
        columns={[
          col.name<Budget>('name', t('budget.name'), ({ name }) => name, { sort: true }),
          ...(platform ? [col.text<Budget>('organisation', t('budget.organisation'), ({ organisation }) => organisation.name, { width: 160 })] : []),
          col.text<Budget>('scope', t('budget.scope'), scope, { width: 180 }),
          col.money<Budget>('amount', t('budget.amount'), ({ amount }) => amount, { width: 140 }),
          col.money<Budget>('spent', t('budget.spent'), ({ spent }) => spent, { width: 140 }),
          col.percent<Budget>('percent', t('budget.percent'), ({ percent }) => percent / 100, { width: 110 }),
          col.status<Budget>('state', t('standing.state'), (budget) => ({ ...state(budget), note: budget.reached.length === 0 ? null : t('budget.reached', { percents: budget.reached.map(({ percent }) => format.percent(percent / 100)).join('、') }) }), { width: 180 }),
        ]}
        filters={[filter.keyword(t('budget.keyword'))]}
        toolbar={
          <>
            {may && !platform && <Button onClick={() => setContacts(true)}>{t('contacts.edit')}</Button>}
            {create}
          </>
        }
        rowActions={(budget) =>
          may
            ? [
                {
                  key: 'edit',
                  label: t('budget.edit'),
                  run: () => {
                    setDialog(budget)
                    return undefined
                  },
                },
                {
                  key: 'delete',
                  label: t('budget.delete'),
                  danger: true,
                  confirm: { title: t('budget.deleteTitle', { name: budget.name }), body: t('budget.deleteBody') },
                  doneText: t('budget.deleted', { name: budget.name }),
                  run: () => remove.mutateAsync({ params: { id: budget.id } }),
                },
              ]
            : []
        }
        empty={
          <EmptyState title={t('budget.none')} action={create}>
            {t('budget.noneNote')}
          </EmptyState>
        }
      />
      {dialog !== null && <BudgetDialog budget={dialog === 'create' ? null : dialog} onClose={() => setDialog(null)} />}
      {contacts && <ContactsDialog onClose={() => setContacts(false)} />}
    </>
  )
}
