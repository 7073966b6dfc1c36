import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByContainer } from './containerRules.ts'

/** Gives a container another name, here and in its Docker. */
export function ContainerRename({ container, onClose }: Dialog<{ container: Container }>) {
  const { t } = useTranslation('container')
  const rename = useChange(containers.action, { invalidates: invalidatedByContainer, silent: true })
  return (
    <FormDialog<{ name: string }>
      title={t('rename.title', { name: container.name })}
      okText={t('rename.ok')}
      doneText={t('done.rename')}
      initialValues={{ name: container.name }}
      onSubmit={({ name }) => rename.mutateAsync({ params: { id: container.id }, body: { action: 'rename', name } })}
      onClose={onClose}
    >
      <TextField name="name" label={t('field.name')} extra={t('rename.note')} schema={containers.deploy.body.shape.name} autoFocus />
    </FormDialog>
  )
}
