import Alert from 'antd/es/alert'
import { nodeStacks, stacks, type Stack } from '@zhisuan/contract/aos/stack'
import { lazy, Suspense } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useParams, useSearchParams } from 'react-router'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useOne, useCall } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { OperationTable } from '../../kit/OperationTable.tsx'
import { RevisionTable } from './RevisionTable.tsx'
import { ServiceTable } from './ServiceTable.tsx'
import { StackFile } from './StackFile.tsx'
import { stackPaths } from './stackPaths.ts'
import { operationTexts, stackTones, isPassing, applicationGone } from './stackRules.ts'
import './stack.css'
import { useStackActions } from './useStackActions.tsx'

const StackUpdate = lazy(() => import('./StackUpdate.tsx'))

/** One stack: its services, what it runs, what it was before, and what was done to it; with `?edit` the form that changes it. */
export default function StackDetail() {
  const { t } = useTranslation('application')
  const { id = '' } = useParams()
  const [search] = useSearchParams()
  const query = useOne(nodeStacks.get, { params: { id } }, { refreshMs: (stack) => whilePassing(stack, isPassing) })
  const actionsOf = useStackActions()
  if (search.has('edit') && query.data !== undefined) {
    return (
      <Suspense fallback={<PagePlaceholder />}>
        <StackUpdate stack={query.data} />
      </Suspense>
    )
  }
  return (
    <DetailPage
      query={query}
      gone={applicationGone(t)}
      title={({ name, edge }) => t('stack.title', { name, node: edge.name })}
      status={({ status }) => <StatusTag tone={stackTones[status]}>{t(`status.${status}`)}</StatusTag>}
      actions={actionsOf}
      notice={(stack) => <Notices stack={stack} />}
      facts={(stack) => [
        {
          key: 'application',
          label: t('column.application'),
          value: <Link to={paths.container.application.detail(stack.deployment.id, stack.deployment.name)}>{stack.deployment.name}</Link>,
        },
        { key: 'node', label: t('column.node'), value: <Link to={paths.container.node.detail(stack.edge.id)}>{stack.edge.name}</Link> },
        { key: 'services', label: t('column.servicesRunning'), value: `${stack.running_count} / ${stack.service_count}` },
        {
          key: 'revision',
          label: t('column.running'),
          value: stack.deployed_revision === null ? format.nothing : t('revision.number', { revision: stack.deployed_revision }),
        },
        {
          key: 'template',
          label: t('column.template'),
          value:
            stack.template === null ? (
              t('application.ownFile')
            ) : (
              <Link to={stackPaths.version(stack.template.id)}>{`${stack.template.name} ${stack.template.version}`}</Link>
            ),
        },
        { key: 'project', label: t('column.project'), value: <span className="zs-code">{stack.project}</span> },
        { key: 'creator', label: t('column.creator'), value: stack.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(stack.created_at) },
        { key: 'updated', label: t('column.updated'), value: format.dateTime(stack.updated_at) },
      ]}
      tabs={(stack) => [
        { key: 'services', label: t('tab.services'), content: <ServiceTable stack={stack} /> },
        { key: 'revisions', label: t('tab.revisions'), content: <RevisionTable stack={stack} /> },
        { key: 'file', label: t('tab.file'), content: <StackFile stack={stack} /> },
        { key: 'history', label: t('tab.history'), content: <History stack={stack} /> },
      ]}
    />
  )
}

/** What is being done, or went wrong last. */
function Notices({ stack }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  const { status, edge, error, revision, deployed_revision } = stack
  return (
    <>
      {isPassing(stack) && <Working stack={stack} />}
      {edge.online && status === 'unknown' && (
        <Alert className="zs-above" type="warning" showIcon title={t('dockerAway')} description={t('notice.offlineNote')} />
      )}
      {!edge.online && <Alert className="zs-above" type="warning" showIcon title={t('notice.offline')} description={t('notice.offlineNote')} />}
      {error !== null && (
        <Alert
          className="zs-above"
          type={status === 'error' ? 'error' : 'warning'}
          showIcon
          title={
            deployed_revision !== null && deployed_revision !== revision ? t('notice.notUpdated', { revision, running: deployed_revision }) : t('notice.failed')
          }
          description={
            <>
              <div className="as-reason">{error}</div>
              <Link to={stackPaths.stack(stack.id, stack.name, 'history')} className="zs-text-link">
                {t('notice.output')}
              </Link>
            </>
          }
        />
      )}
    </>
  )
}

/** Which step runs: read from the history, so that it is the same after a reload. */
function Working({ stack: { id, status } }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  const { data } = useCall(stacks.operations, { params: { id }, query: { page_size: 1 } }, { silent: true, refreshMs: 1_000 })
  const now = data?.items[0]
  const step =
    now?.status === 'running' && now.step !== null
      ? t('notice.step', { step: operationTexts(t).step(now.kind, now.step), done: now.steps_done + 1, total: now.steps_total })
      : t('notice.queued')
  return <Alert className="zs-above" type="info" showIcon title={t(`status.${status}`)} description={step} role="status" />
}

/** What was done to it, and what compose said of it the last time. */
function History({ stack }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  return (
    <>
      <OperationTable call={stacks.operations} id={stack.id} busy={isPassing(stack)} texts={operationTexts(t)} />
      <h2 className="zs-heading as-output-title">{t('output.title')}</h2>
      {stack.output === '' ? (
        <p className="zs-soft">{t('output.none')}</p>
      ) : (
        <pre className="as-output" tabIndex={0} aria-label={t('output.title')}>
          {stack.output}
        </pre>
      )}
    </>
  )
}
