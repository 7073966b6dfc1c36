import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { eipPools, type EipPool } from '@zhisuan/contract/nextstack/eip'
import { organisations } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { SwitchField, TextAreaField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { refusing, wrongWith } from '../../../kit/rules.ts'
import { linesOf, parseRanges, rangesText, invalidatedByEip } from './eipRules.ts'
import './network.css'

interface Values {
  name: string
  description: string
  ranges: string
  excluded: string
  public: boolean
  organisation_ids: string[]
  max_bandwidth_mbps: number | null
}
const { shape } = eipPools.update.body

/** Makes a pool of outside addresses, or with one changes it. */
export function EipPoolDialog({ cloudId, pool, onClose }: Dialog<{ cloudId: string; pool: EipPool | null }>) {
  const { t } = useTranslation('network')
  const [form] = Form.useForm<Values>()
  const name = Form.useWatch('name', form) ?? ''
  const isPublic = Form.useWatch('public', form) ?? pool?.public ?? true
  const create = useChange(eipPools.create, { invalidates: invalidatedByEip, silent: true })
  const update = useChange(eipPools.update, { invalidates: invalidatedByEip, silent: true })
  const { data } = useCall(organisations.list, { query: { page_size: 1000 } }, { enabled: !isPublic })
  return (
    <FormDialog<Values>
      form={form}
      width={600}
      title={pool === null ? t('pool.create') : t('pool.editTitle', { name: pool.name })}
      okText={pool === null ? t('pool.createOk') : t('pool.save')}
      initialValues={{
        name: pool?.name ?? '',
        description: pool?.description ?? '',
        ranges: rangesText(pool?.ranges ?? []),
        excluded: (pool?.excluded ?? []).join('\n'),
        public: pool?.public ?? true,
        organisation_ids: pool?.organisations.map(({ id }) => id) ?? [],
        max_bandwidth_mbps: pool?.max_bandwidth_mbps ?? null,
      }}
      doneText={pool === null ? t('pool.created', { name }) : t('pool.saved')}
      onClose={onClose}
      onSubmit={async ({ ranges, excluded, organisation_ids, max_bandwidth_mbps, ...values }) => {
        const parsed = parseRanges(ranges)
        const body = {
          ...values,
          // The form's own rule let only readable ones through.
          ranges: 'ranges' in parsed ? [...parsed.ranges] : [],
          excluded: linesOf(excluded),
          organisation_ids: values.public ? [] : (organisation_ids ?? []),
          max_bandwidth_mbps: max_bandwidth_mbps ?? null,
        }
        await (pool === null ? create.mutateAsync({ body: { ...body, cloud_id: cloudId } }) : update.mutateAsync({ params: { id: pool.id }, body }))
      }}
    >
      <NameField schema={shape.name} />
      <TextAreaField
        name="ranges"
        label={t('pool.ranges')}
        extra={t('pool.rangesNote')}
        rules={[
          refusing((text: string) => {
            const parsed = parseRanges(text)
            return 'line' in parsed ? t('pool.rangesInvalid', parsed) : wrongWith(shape.ranges, parsed.ranges)
          }),
        ]}
        required
        rows={3}
        code
      />
      <TextAreaField
        name="excluded"
        label={t('pool.excluded')}
        extra={t('pool.excludedNote')}
        rules={[refusing((text: string) => wrongWith(shape.excluded, linesOf(text)))]}
        rows={2}
        code
      />
      <NumberField
        name="max_bandwidth_mbps"
        label={t('pool.maxBandwidth')}
        extra={t('pool.maxBandwidthNote')}
        schema={shape.max_bandwidth_mbps}
        className="nt-number"
      />
      <SwitchField name="public" label={t('pool.isPublic')} />
      {!isPublic && (
        <Form.Item name="organisation_ids" label={t('pool.organisations')} required>
          <Select mode="multiple" optionFilterProp="label" options={(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))} />
        </Form.Item>
      )}
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
