import Modal from 'antd/es/modal'
import { stacks, type Stack, type StackRevision } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import { FormDialog } from '../../kit/FormDialog.tsx'
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
  const compared = running !== undefined && running.revision !== revision.revision
  const same = compared && running.compose === revision.compose
  const shown = (
    <>
      <p className="zs-soft">{compared ? t(same ? 'revision.sameFile' : 'revision.compared', { revision: running.revision }) : t('revision.whole')}</p>
      <CodeEditor label={t('compose.label')} value={revision.compose} original={compared && !same ? running.compose : undefined} />
      <ValueChanges changes={changedValues(compared ? running.values : {}, revision.values)} {...(!compared && { title: t('variable.title') })} />
    </>
  )
  if (!rollback) {
    return (
      <Modal open width={920} title={t('revision.title', { revision: revision.revision })} footer={null} onCancel={onClose} mask={{ closable: false }}>
        {shown}
      </Modal>
    )
  }
  return (
    <FormDialog
      width={920}
      title={t('revision.rollbackTitle', { revision: revision.revision })}
      okText={t('action.rollback')}
      initialValues={{}}
      onSubmit={() => act.mutateAsync({ params: { id: stack.id }, body: { action: 'rollback', revision: revision.revision } })}
      doneText={t('done.rollback', { name: stack.name, revision: revision.revision })}
      onClose={onClose}
    >
      <p>{t('revision.rollbackNote', { revision: stack.revision + 1 })}</p>
      {shown}
    </FormDialog>
  )
}
