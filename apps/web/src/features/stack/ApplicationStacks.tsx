import { stackDeployments, type Stack } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { Link, useParams } from 'react-router'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useOne } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { stackPaths } from './stackPaths.ts'
import { stackTones, isPassing, applicationGone } from './stackRules.ts'
import { useApplicationActions } from './useApplicationActions.ts'
import { useStackActions } from './useStackActions.tsx'

/** One application: a stack of it on each of its nodes. */
export default function ApplicationStacks() {
  const { t } = useTranslation('application')
  const { id = '' } = useParams()
  const query = useOne(stackDeployments.get, { params: { id } }, { refreshMs: (one) => whilePassing(one, isPassing) })
  const actionsOf = useApplicationActions()
  return (
    <DetailPage
      query={query}
      gone={applicationGone(t)}
      title={({ name }) => name}
      status={({ status }) => <StatusTag tone={stackTones[status]}>{t(`status.${status}`)}</StatusTag>}
      actions={(one) => actionsOf(one).map((action) => ({ ...action, label: t('action.deleteAll') }))}
      facts={(one) => [
        {
          key: 'template',
          label: t('column.template'),
          value:
            one.template === null ? (
              t('application.ownFile')
            ) : (
              <Link to={stackPaths.version(one.template.id)}>{`${one.template.name} ${one.template.version}`}</Link>
            ),
        },
        { key: 'running', label: t('column.nodesRunning'), value: `${one.running_count} / ${one.stack_count}` },
        { key: 'creator', label: t('column.creator'), value: one.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(one.created_at) },
        { key: 'description', label: t('column.description'), value: one.description === '' ? format.nothing : one.description },
      ]}
    >
      {() => <StackTable id={id} />}
    </DetailPage>
  )
}

function StackTable({ id }: { readonly id: string }) {
  const { t } = useTranslation('application')
  const actionsOf = useStackActions()
  return (
    <div className="zs-card">
      <h2>{t('application.stacks')}</h2>
      <ResourceTable
        call={stackDeployments.stacks}
        input={{ params: { id } }}
        columns={[
          col.name<Stack>('node', t('column.node'), ({ edge }) => edge.name, {
            to: ({ id: stackId, name }) => stackPaths.stack(stackId, name),
            note: ({ edge, status }) => (!edge.online ? t('offline') : status === 'unknown' ? t('dockerAway') : ''),
          }),
          col.status<Stack>('status', t('column.status'), ({ status, error }) => ({ tone: stackTones[status], text: t(`status.${status}`), note: error }), {
            sort: true,
            width: 150,
          }),
          col.text<Stack>('services', t('column.servicesRunning'), ({ running_count, service_count }) => `${running_count} / ${service_count}`, { width: 112 }),
          col.text<Stack>('revision', t('column.revision'), (row) => t('revision.number', { revision: row.deployed_revision ?? row.revision }), { width: 80 }),
          col.text<Stack>(
            'template',
            t('column.template'),
            ({ template }) => (template === null ? t('application.ownFile') : `${template.name} ${template.version}`),
            { width: 140 },
          ),
          col.date<Stack>('updated', t('column.updated'), ({ updated_at }) => updated_at),
          col.date<Stack>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
          col.code<Stack>('project', t('column.project'), ({ project }) => project, { off: true }),
          col.code<Stack>('id', t('column.id'), ({ id: stackId }) => stackId, { off: true }),
        ]}
        rowActions={actionsOf}
        passing={isPassing}
        empty={{ title: t('application.noStacks') }}
      />
    </div>
  )
}
