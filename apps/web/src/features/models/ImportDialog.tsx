import { modelImports } from '@zhisuan/contract/models/import'
import type { Model } from '@zhisuan/contract/models/model'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { SelectField } from '../../kit/SelectField.tsx'

interface Values {
  url: string
  repository: string
  revision: string
}

/** Brings a model's files in from another hub: one of those that administrators allow. */
export default function ImportDialog({ model, onClose }: Dialog<{ model: Model }>) {
  const { t } = useTranslation('models')
  const { data } = useCall(modelImports.list, { params: { id: model.id } })
  const begin = useChange(modelImports.create, { invalidates: [modelImports.list], silent: true })
  const { shape } = modelImports.create.body
  if (data === undefined) return null
  const { hubs, items } = data
  const last = items[0]
  return (
    <FormDialog<Values>
      title={t('import.title', { name: model.repository })}
      okText={t('import.do')}
      okDisabled={hubs.length === 0}
      initialValues={{ url: hubs[0] ?? '', repository: last?.repository ?? '', revision: last?.revision ?? 'main' }}
      doneText={t('import.begun')}
      onClose={onClose}
      onSubmit={(body) => begin.mutateAsync({ params: { id: model.id }, body })}
    >
      {hubs.length === 0 ? (
        <EmptyState title={t('import.noHubs')}>{t('import.noHubsNote')}</EmptyState>
      ) : (
        <>
          <p className="zs-soft">{t('import.note')}</p>
          <SelectField name="url" label={t('import.hub')} values={hubs} />
          <TextField code name="repository" label={t('import.repository')} schema={shape.repository} placeholder="Qwen/Qwen3-8B" />
          <TextField code name="revision" label={t('import.revision')} schema={shape.revision} />
        </>
      )}
    </FormDialog>
  )
}
