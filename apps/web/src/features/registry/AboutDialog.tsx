import { repositories } from '@zhisuan/contract/ims/project'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { TextAreaField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByRepository } from './registryRules.ts'

/** What is told of a repository. */
export default function AboutDialog({
  at,
  description,
  onClose,
}: Dialog<{ at: { readonly id: string; readonly pid: string; readonly name: string }; description: string }>) {
  const { t } = useTranslation('mirror')
  const update = useChange(repositories.update, { invalidates: invalidatedByRepository, silent: true })
  return (
    <FormDialog<{ description: string }>
      width={720}
      title={t('repository.aboutTitle', { name: at.name })}
      okText={t('save')}
      initialValues={{ description }}
      doneText={t('saved', { name: at.name })}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: at, body })}
    >
      <TextAreaField
        name="description"
        label={t('repository.about')}
        extra={t('repository.aboutFormat')}
        schema={repositories.update.body.shape.description}
        required={false}
        rows={14}
        showCount
      />
    </FormDialog>
  )
}
