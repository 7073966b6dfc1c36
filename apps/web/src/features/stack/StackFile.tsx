import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Segmented from 'antd/es/segmented'
import Skeleton from 'antd/es/skeleton'
import { stackConfigs, type Stack } from '@zhisuan/contract/aos/stack'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { paths, withQuery } from '../../paths.ts'
import { CodeEditor } from './CodeEditor.tsx'
import { changedValues } from './sourceForm.ts'
import { invalidatedByStack, whyNotStack } from './stackRules.ts'
import { useRevisions } from './useRevisions.ts'
import { ValueChanges } from './ValueChanges.tsx'

/** The file as it was written and as it was deployed, the values in it, and the configs beside it. */
export function StackFile({ stack }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  const [resolved, setResolved] = useState(false)
  const { data, error, refetch } = useRevisions(stack)
  if (data === undefined) return error === null ? <Skeleton active /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <div className="zs-parts">
      <section>
        <div className="zs-bar">
          <Segmented
            aria-label={t('compose.which')}
            value={resolved ? 'resolved' : 'written'}
            options={[
              { value: 'written', label: t('compose.written') },
              { value: 'resolved', label: t('compose.resolved') },
            ]}
            onChange={(which) => setResolved(which === 'resolved')}
          />
          <span className="zs-soft">
            {resolved ? t('compose.resolvedNote') : t('compose.writtenNote', { revision: data.revisions[0]?.revision ?? stack.revision })}
          </span>
        </div>
        <CodeEditor label={t('compose.label')} value={resolved ? data.resolved : data.compose} />
        <ValueChanges title={t('variable.title')} changes={changedValues({}, data.values)} />
      </section>
      <Beside stack={stack} />
    </div>
  )
}

/** Configs that lie beside the file, and whether the node has their newest text. */
function Beside({ stack }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  const { data, error, refetch } = useCall(stackConfigs.list, { query: { stack_id: stack.id, page_size: 1000 } }, { silent: true, refreshMs: 5_000 })
  const put = useChange(stackConfigs.put, { invalidates: invalidatedByStack })
  if (error !== null && data === undefined) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  const items = data?.items ?? []
  if (items.length === 0) return null
  const behind = items.filter(({ revision, newest_revision }) => revision !== newest_revision)
  const refused = whyNotStack(t, 'update', stack)
  const bring = (): void =>
    put.mutate(
      { body: { stack_id: stack.id, configs: items.map(({ path, config }) => ({ path, config_id: config.id })) } },
      { onSuccess: () => notify('success', t('done.update', { name: stack.name })) },
    )
  return (
    <section>
      <h2 className="zs-heading">{t('file.title')}</h2>
      {behind.length > 0 && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('file.behind', { count: behind.length })}
          description={refused ?? t('file.behindNote')}
          action={
            <Button size="small" disabled={refused !== null} loading={put.isPending} onClick={bring}>
              {t('file.bring')}
            </Button>
          }
        />
      )}
      <ul className="zs-list">
        {items.map(({ path, config, revision, newest_revision }) => (
          <li key={path}>
            <span className="zs-code">./{path}</span> ←{' '}
            <Link to={withQuery(paths.container.configuration.detail(), { id: config.id })} className="zs-text-link">
              {config.name}
            </Link>{' '}
            <span className={revision === newest_revision ? 'zs-soft' : 'zs-bad'}>
              {revision === newest_revision ? t('file.current', { revision }) : t('file.old', { revision, newest: newest_revision })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
