import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { regions, sites, type Site } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DivisionsSelect } from './DivisionsSelect.tsx'
import './edge.css'
import { invalidatedBySite } from './edgeRules.ts'
import { DescriptionField, NameField } from './NameFields.tsx'

interface Values {
  name: string
  description: string
  region_id: string
  divisions: string[]
  address: string
  longitude: number | null
  latitude: number | null
}
const { shape } = sites.create.body

/**
 * Makes a site, or with one changes it.
 * @param regionId the one that is chosen to begin with
 */
export function SiteDialog({ site, regionId, onSaved, onClose }: Dialog<{ site: Site | null; regionId?: string; onSaved?: (site: Site) => void }>) {
  const { t } = useTranslation('edge')
  const [form] = Form.useForm<Values>()
  const create = useChange(sites.create, { invalidates: invalidatedBySite, silent: true })
  const update = useChange(sites.update, { invalidates: invalidatedBySite, silent: true })
  const { data, isPending } = useCall(regions.list, { query: { page_size: 1000, sort: 'name' } })
  const chosen = Form.useWatch('region_id', form) ?? site?.region.id ?? regionId
  const nation = data?.items.find(({ id }) => id === chosen)?.nation
  return (
    <FormDialog<Values>
      form={form}
      width={640}
      title={site === null ? t('site.create') : t('edit.title', { name: site.name })}
      okText={site === null ? t('create') : t('save')}
      initialValues={{
        name: site?.name ?? '',
        description: site?.description ?? '',
        ...(chosen !== undefined && { region_id: chosen }),
        divisions: site?.divisions.map(({ code }) => code) ?? [],
        address: site?.address ?? '',
        longitude: site?.longitude ?? null,
        latitude: site?.latitude ?? null,
      }}
      doneText={t(site === null ? 'site.created' : 'edit.done')}
      onClose={onClose}
      onSubmit={async (body) => {
        const saved = await (site === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: site.id }, body }))
        onSaved?.(saved)
      }}
    >
      <NameField kind="ecrm.site" {...(site !== null && { own: site.name })} />
      <Field name="region_id" label={t('site.region')} missing={t('site.regionPlaceholder')}>
        <Select
          loading={isPending}
          showSearch={{ optionFilterProp: 'label' }}
          placeholder={t('site.regionPlaceholder')}
          options={(data?.items ?? []).map(({ id, name, nation_name }) => ({ value: id, label: `${name}（${nation_name}）` }))}
          // Divisions belong to a nation.
          onChange={(id: string) => {
            if (data?.items.find((one) => one.id === id)?.nation !== nation) form.setFieldValue('divisions', [])
          }}
        />
      </Field>
      <Field
        name="divisions"
        label={t('site.divisions')}
        {...(nation !== undefined && nation !== 'CN' && { extra: t('site.divisionsUnknown') })}
        schema={shape.divisions}
      >
        <DivisionsSelect nation={nation} />
      </Field>
      <TextField name="address" label={t('site.address')} schema={shape.address} />
      <div className="ed-pair">
        <NumberField name="longitude" label={t('site.longitude')} schema={shape.longitude} className="ed-number" />
        <NumberField
          name="latitude"
          label={t('site.latitude')}
          dependencies={['longitude']}
          required={false}
          schema={shape.latitude}
          className="ed-number"
          rules={[
            ({ getFieldValue }) => ({
              validator: async (_rule, value: number | null) => {
                const given = [value, getFieldValue('longitude') as number | null | undefined].filter((one) => typeof one === 'number')
                if (given.length === 1) throw new Error(t('site.both'))
              },
            }),
          ]}
        />
      </div>
      <DescriptionField />
    </FormDialog>
  )
}
