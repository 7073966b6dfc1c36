import AutoComplete from 'antd/es/auto-complete'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { skus, type Sku } from '@zhisuan/contract/bill/catalogue'
import { meterNames, meters, type Meter } from '@zhisuan/contract/bill/meter'
import { computeVolumeTypes } from '@zhisuan/contract/compute/volume'
import { hosts } from '@zhisuan/contract/nextstack/host'
import { storagePools } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { Field } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { NameField } from '../../../kit/NameFields.tsx'
import { useClouds } from '../../../session/cloud.ts'
import { useChoiceLines } from '../../../kit/LinesTable.tsx'
import { kindText, unitOf } from './catalogueText.ts'
import { invalidatedByCatalogue } from './invalidated.ts'

interface Values {
  name: string
  meter: Meter
  variant?: string
}
const { shape } = skus.create.body

/** The kinds of a meter that the platform really has. */
function useVariants(meter: Meter | undefined): readonly string[] {
  const { data: models } = useCall(hosts.gpuModels, {}, { silent: true, enabled: meter === 'vm.gpu' })
  const { data: pools } = useCall(storagePools.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true, enabled: meter === 'volume.size' })
  const cloud = useClouds().selected
  // Those of the chosen cloud; those of others are typed, and are in the list of what has no price once they are used.
  const types = useChoiceLines(
    computeVolumeTypes.list,
    meter === 'volume.size' && cloud !== null && cloud.product !== 'nextstack' ? { params: { cloud_id: cloud.cloud_id } } : null,
  ).data
  const volumeTypes = [...(pools?.items ?? []), ...(types?.items ?? [])].map(({ name }) => name)
  const all = meter === 'vm.gpu' ? models?.items.map(({ model }) => model) : meter === 'volume.size' ? volumeTypes : []
  return [...new Set(all ?? [])]
}

/**
 * Adds to a product what is measured.
 * @param wish what is chosen to begin with
 */
export function SkuDialog({
  productId,
  wish,
  onSaved,
  onClose,
}: Dialog<{ productId: string; wish?: { readonly meter: Meter; readonly variant: string }; onSaved?: () => void }>) {
  const { t } = useTranslation('catalogue')
  const [form] = Form.useForm<Values>()
  const create = useChange(skus.create, { invalidates: invalidatedByCatalogue, silent: true })
  const { data } = useCall(skus.list, { query: {} }, { silent: true })
  const meter = Form.useWatch('meter', form) ?? wish?.meter
  const variants = useVariants(meter)
  const placeOf = (one: Meter, variant: string) => data?.items.find((sku) => sku.meter === one && sku.variant === variant)?.product.name
  return (
    <FormDialog<Values>
      form={form}
      title={t('sku.add')}
      okText={t('create')}
      initialValues={{ name: '', variant: '', ...wish }}
      doneText={t('sku.added')}
      onClose={onClose}
      onSubmit={async ({ name, meter: chosen, variant }) => {
        await create.mutateAsync({ body: { product_id: productId, name, meter: chosen, variant: meters[chosen].varies ? (variant ?? '') : '' } })
        onSaved?.()
      }}
    >
      <NameField schema={shape.name} />
      <Field name="meter" label={t('sku.meter')} extra={t('sku.meterNote')} schema={shape.meter}>
        <Select<Meter>
          showSearch={{ optionFilterProp: 'search' }}
          options={meterNames.map((one) => {
            const taken = meters[one].varies ? undefined : placeOf(one, '')
            const label = `${t(`meter.${one}`)}（${unitOf(t, one)}）`
            return {
              value: one,
              search: label,
              label: taken === undefined ? label : `${label} — ${t('sku.taken', { product: taken })}`,
              disabled: taken !== undefined,
            }
          })}
          onChange={() => form.setFieldValue('variant', '')}
        />
      </Field>
      {meter !== undefined && meters[meter].varies && (
        <Field name="variant" label={kindText(t, meter)} extra={t('sku.variantNote', { kind: kindText(t, meter) })} schema={shape.variant}>
          <AutoComplete
            options={variants.map((value) => {
              const taken = placeOf(meter, value)
              return { value, label: taken === undefined ? value : `${value} — ${t('sku.taken', { product: taken })}`, disabled: taken !== undefined }
            })}
            filterOption={(typed, option) => option?.value.toLowerCase().includes(typed.toLowerCase()) === true}
          />
        </Field>
      )}
    </FormDialog>
  )
}

/** Gives a SKU another name. */
export function SkuRename({ sku, onClose }: Dialog<{ sku: Sku }>) {
  const { t } = useTranslation('catalogue')
  const update = useChange(skus.update, { invalidates: invalidatedByCatalogue, silent: true })
  return (
    <FormDialog<{ name: string }>
      title={t('sku.rename', { name: sku.name })}
      okText={t('save')}
      initialValues={{ name: sku.name }}
      doneText={t('saved')}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: { id: sku.id }, body })}
    >
      <NameField schema={skus.update.body.shape.name} />
    </FormDialog>
  )
}
