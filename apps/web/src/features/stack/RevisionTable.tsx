import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { stacks, stackTransitional, type Stack, type StackRevision } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { ActionMenu, type Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { labelled } from './labelled.ts'
import { RevisionDialog } from './RevisionDialog.tsx'
import { whyNotStack } from './stackRules.ts'
import { useRevisions } from './useRevisions.ts'
import '../../kit/table.css'

/** What a stack was asked to be, by whom and when, and the way back to each. */
export function RevisionTable({ stack }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  const { data, error, refetch } = useRevisions(stack)
  if (data === undefined) return error === null ? <Skeleton active /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const { revisions } = data
  const running = revisions.find(({ revision }) => revision === stack.deployed_revision)
  const opening = (key: 'look' | 'rollback', revision: StackRevision): Omit<Action, 'label'> => ({
    key,
    call: key === 'look' ? null : stacks.action,
    dialog: (close) => <RevisionDialog stack={stack} revision={revision} running={running} rollback={key === 'rollback'} onClose={close} />,
  })
  const actionsOf = (row: StackRevision): readonly Action[] => [
    { ...opening('look', row), label: t('revision.look') },
    {
      ...opening('rollback', row),
      label: t('action.rollback'),
      disabledReason: whyNotStack(t, 'rollback', stack) ?? (row.revision === stack.deployed_revision ? t('revision.isRunning') : null),
    },
  ]
  return (
    <section className="zs-table">
      <Table<StackRevision>
        size="small"
        rowKey="revision"
        dataSource={[...revisions]}
        pagination={revisions.length > 10 ? { pageSize: 10, size: 'small', showSizeChanger: false } : false}
        columns={labelled<StackRevision>([
          col.name<StackRevision>('revision', t('column.revision'), ({ revision }) => t('revision.number', { revision }), { width: 110 }),
          col.custom<StackRevision>('state', t('column.status'), (row) => <State stack={stack} revision={row.revision} />, { width: 120 }),
          col.text<StackRevision>(
            'template',
            t('column.template'),
            ({ template }) => (template === null ? t('application.ownFile') : `${template.name} ${template.version}`),
            { width: 200 },
          ),
          col.text<StackRevision>('creator', t('column.asker'), ({ created_by }) => created_by, { width: 140 }),
          col.date<StackRevision>('created', t('column.asked'), ({ created_at }) => created_at),
          {
            key: '@actions',
            title: t('column.actions'),
            width: 150,
            render: (_, row) => <ActionMenu actions={actionsOf(row)} />,
          },
        ])}
      />
    </section>
  )
}

function State({ stack, revision }: { readonly stack: Stack; readonly revision: number }) {
  const { t } = useTranslation('application')
  if (revision === stack.deployed_revision) return <StatusTag tone="good">{t('revision.running')}</StatusTag>
  if (revision !== stack.revision) return <StatusTag tone="rest">{t('revision.former')}</StatusTag>
  return stackTransitional.includes(stack.status) ? (
    <StatusTag tone="busy">{t('revision.coming')}</StatusTag>
  ) : (
    <StatusTag tone="bad">{t('revision.failed')}</StatusTag>
  )
}
