import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { stacks, templates, type Stack, type StackRevision } from '@zhisuan/contract/aos/stack'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { SourceFields, useSource } from './SourceFields.tsx'
import { blankSource, changedValues, changeOf, sourceFrom, valuesFor, wholeFiles, type SourceValues } from './sourceForm.ts'
import { stackPaths } from './stackPaths.ts'
import { invalidatedByStack } from './stackRules.ts'
import './stack.css'
import { besideSource, tellUnplaced } from './tellUnplaced.ts'
import { ValueChanges } from './ValueChanges.tsx'

/** Changes what a stack runs: another file or version of its template, other values, other configs. */
export default function StackUpdate({ stack }: { readonly stack: Stack }) {
  const { t } = useTranslation('application')
  usePageTitle(t('update.title', { name: stack.name }))
  const { data, error, refetch } = useCall(stacks.composeConfig, { params: { id: stack.id } }, { silent: true })
  const [round, setRound] = useState(0)
  const template = stack.template?.id
  // The template may be gone; then its file stays, as one of the stack's own.
  const version = useCall(templates.get, { params: { id: template ?? '' } }, { silent: true, enabled: template !== undefined })
  const newest = data?.revisions[0]
  if (newest === undefined || (template !== undefined && version.isPending)) {
    return error === null ? (
      <PagePlaceholder />
    ) : (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  const before = version.data === undefined ? { ...newest, template: null } : newest
  const running = data?.revisions.find(({ revision }) => revision === stack.deployed_revision) ?? newest
  return <UpdateForm key={round} stack={stack} newest={before} running={running} onReload={() => setRound(round + 1)} />
}

/**
 * @param newest what was asked for last: the form begins with it
 * @param running what it is compared with
 */
function UpdateForm({
  stack,
  newest,
  running,
  onReload,
}: {
  readonly stack: Stack
  readonly newest: StackRevision
  readonly running: StackRevision
  readonly onReload: () => void
}) {
  const { t } = useTranslation('application')
  const navigate = useNavigate()
  const [form] = Form.useForm<SourceValues>()
  // What the person began from: what others asked for meanwhile must not be overwritten unseen.
  const [before] = useState(newest)
  const known = useSource(form)
  const typed = Form.useWatch((values: SourceValues) => values, form) as Partial<SourceValues> | undefined
  const act = useChange(stacks.action, { invalidates: invalidatedByStack, silent: true })
  const back = stackPaths.stack(stack.id, stack.name)
  const submit = async (values: SourceValues): Promise<void> => {
    try {
      await act.mutateAsync({ params: { id: stack.id }, body: { action: 'update', ...changeOf({ ...blankSource, ...values }, known.variables, before) } })
      notify('success', t('done.update', { name: stack.name }))
      void navigate(back)
    } catch (thrown) {
      const error = besideSource(thrown, values)
      tellUnplaced(error)
      throw error
    }
  }
  return (
    <>
      {newest.revision !== before.revision && !act.isSuccess && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('update.changed')}
          description={t('update.changedNote', { revision: newest.revision })}
          action={
            <Button size="small" onClick={onReload}>
              {t('update.reload')}
            </Button>
          }
        />
      )}
      <FormPage<SourceValues>
        form={form}
        initialValues={sourceFrom(before)}
        submitText={t('update.submit')}
        aside={
          <div className="zs-card">
            <h2>{t('update.summary')}</h2>
            <Summary running={running} compose={known.compose} values={valuesFor(known.variables, typed?.values ?? {})} files={typed?.configs} />
            <p className="zs-soft">{t('update.note', { node: stack.edge.name })}</p>
          </div>
        }
        onCancel={() => void navigate(back)}
        onSubmit={submit}
      >
        <SourceFields known={known} original={running.compose} />
      </FormPage>
    </>
  )
}

/** What would be another. */
function Summary({
  running,
  compose,
  values,
  files,
}: {
  readonly running: StackRevision
  readonly compose: string | null
  readonly values: Record<string, string>
  readonly files: SourceValues['configs'] | undefined
}) {
  const { t } = useTranslation('application')
  const beside = (list: StackRevision['configs']): string => JSON.stringify(list.map(({ path, config_id }) => `${path} ${config_id}`).toSorted())
  const file = compose !== null && compose !== running.compose
  const configs = files !== undefined && beside(wholeFiles(files)) !== beside(running.configs)
  const changes = changedValues(running.values, values)
  if (!file && !configs && changes.length === 0) return <p role="status">{t('update.same', { revision: running.revision })}</p>
  return (
    <div role="status">
      <p>{t('update.compared', { revision: running.revision })}</p>
      <ul className="as-summary">
        {file && <li>{t('update.file')}</li>}
        {configs && <li>{t('update.configs')}</li>}
        {changes.length > 0 && <li>{t('update.values', { count: changes.length })}</li>}
      </ul>
      <ValueChanges changes={changes} />
    </div>
  )
}
