import Select from 'antd/es/select'
import { lookups, regions, type Region } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { Field } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedBySite } from './edgeRules.ts'
import { DescriptionField, NameField } from './NameFields.tsx'

interface Values {
  name: string
  description: string
  nation: string
}

/** Makes a region, or with one changes it. */
export function RegionDialog({ region, onClose }: Dialog<{ region: Region | null }>) {
  const { t } = useTranslation('edge')
  const create = useChange(regions.create, { invalidates: invalidatedBySite, silent: true })
  const update = useChange(regions.update, { invalidates: invalidatedBySite, silent: true })
  const { data, isPending } = useCall(lookups.nations, {})
  return (
    <FormDialog<Values>
      title={region === null ? t('region.create') : t('edit.title', { name: region.name })}
      okText={region === null ? t('create') : t('save')}
      initialValues={{ name: region?.name ?? '', description: region?.description ?? '', nation: region?.nation ?? 'CN' }}
      doneText={t(region === null ? 'region.created' : 'edit.done')}
      onClose={onClose}
      onSubmit={(body) => (region === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: region.id }, body }))}
    >
      <NameField kind="ecrm.region" {...(region !== null && { own: region.name })} />
      <Field name="nation" label={t('region.nation')} schema={regions.create.body.shape.nation} required>
        <Select
          loading={isPending}
          showSearch={{ optionFilterProp: 'search' }}
          options={(data?.items ?? []).map(({ code, name }) => ({ value: code, label: `${name}（${code}）`, search: `${name} ${code}` }))}
        />
      </Field>
      <DescriptionField />
    </FormDialog>
  )
}
