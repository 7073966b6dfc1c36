import Modal from 'antd/es/modal'
import { stacks, type Stack, type StackRevision } from '@zhisuan/contract/aos/stack'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import { CodeEditor } from './CodeEditor.tsx'
import { changedValues } from './sourceForm.ts'
import { invalidatedByStack } from './stackRules.ts'
import { ValueChanges } from './ValueChanges.tsx'

/** A revision beside the one that runs; and, where it is asked for, the way back to it. */
export function RevisionDialog({
  stack,
  revision,
  running,
  rollback,
  onClose,
}: {
  readonly stack: Stack
  readonly revision: StackRevision
  /** Undefined where none runs. */
  readonly running: StackRevision | undefined
  readonly rollback: boolean
  readonly onClose: () => void
}) {
  const { t } = useTranslation('application')
  useReturnFocus()
  const act = useChange(stacks.action, { invalidates: invalidatedByStack })
  const go = async (): Promise<void> => {
    await act.mutateAsync({ params: { id: stack.id }, body: { action: 'rollback', revision: revision.revision } })
    notify('success', t('done.rollback', { name: stack.name, revision: revision.revision }))
    onClose()
  }
  const compared = running !== undefined && running.revision !== revision.revision
  const same = compared && running.compose === revision.compose
  return (
    <Modal
      open
      width={920}
      title={rollback ? t('revision.rollbackTitle', { revision: revision.revision }) : t('revision.title', { revision: revision.revision })}
      okText={t('action.rollback')}
      {...(!rollback && { footer: null })}
      confirmLoading={act.isPending}
      // What failed was told.
      onOk={() => void go().catch(() => undefined)}
      onCancel={onClose}
      mask={{ closable: false }}
    >
      {rollback && <p>{t('revision.rollbackNote', { revision: stack.revision + 1 })}</p>}
      <p className="zs-soft">{compared ? t(same ? 'revision.sameFile' : 'revision.compared', { revision: running.revision }) : t('revision.whole')}</p>
      <CodeEditor label={t('compose.label')} value={revision.compose} original={compared && !same ? running.compose : undefined} />
      <ValueChanges changes={changedValues(compared ? running.values : {}, revision.values)} {...(!compared && { title: t('variable.title') })} />
    </Modal>
  )
}
