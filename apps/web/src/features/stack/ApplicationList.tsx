import { stackDeployments, stacks, type StackDeployment } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useWithoutNode } from '../../kit/withoutNode.ts'
import { paths } from '../../paths.ts'
import { stackPaths } from './stackPaths.ts'
import { stackTones, isPassing } from './stackRules.ts'
import { useApplicationActions } from './useApplicationActions.ts'

/** Applications: compose files that were deployed, each to one or several nodes at once. */
export function ApplicationList() {
  const { t } = useTranslation('application')
  const withoutNode = useWithoutNode()
  const actionsOf = useApplicationActions()
  const toStacks = ({ id, name }: StackDeployment): string => paths.container.application.detail(id, name)
  return (
    <div className="zs-card">
      <ResourceTable
        call={stackDeployments.list}
        columns={[
          col.name<StackDeployment>('name', t('column.name'), ({ name }) => name, { sort: true, to: toStacks, note: ({ description }) => description }),
          col.status<StackDeployment>('status', t('column.status'), ({ status }) => ({ tone: stackTones[status], text: t(`status.${status}`) }), {
            width: 110,
          }),
          col.text<StackDeployment>('stacks', t('column.nodesRunning'), ({ running_count, stack_count }) => `${running_count} / ${stack_count}`, {
            width: 112,
          }),
          col.text<StackDeployment>(
            'template',
            t('column.template'),
            ({ template }) => (template === null ? t('application.ownFile') : `${template.name} ${template.version}`),
            { width: 150 },
          ),
          col.text<StackDeployment>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 100 }),
          col.date<StackDeployment>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
          col.code<StackDeployment>('id', t('column.id'), ({ id }) => id, { off: true }),
        ]}
        filters={[filter.keyword(t('filter.application'))]}
        rowActions={(row) => [{ key: 'stacks', call: null, label: t('application.nodes'), href: toStacks(row) }, ...actionsOf(row)]}
        create={{ call: stacks.create, label: t('application.deploy'), href: stackPaths.deploy() }}
        passing={isPassing}
        empty={{ title: t('application.empty'), note: t('application.emptyNote') }}
        {...withoutNode}
      />
    </div>
  )
}
