import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { storagePools, volumes } from '@zhisuan/contract/nextstack/volume'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { toApiError } from '../../../api/client.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { notify, toastError } from '../../../api/notify.ts'
import { Field, RadioField, SwitchField } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormPage } from '../../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { PagePlaceholder } from '../../../kit/Placeholder.tsx'
import { paths } from '../../../paths.ts'
import { useClouds } from '../../../session/cloud.ts'
import { writeCloudChoice } from '../../../session/cloudChoice.ts'
import { useCurrentUser } from '../../../session/user.ts'
import { BillingMode, byHour, type Billing } from '../../../kit/price/BillingMode.tsx'
import { volumeItems } from '../../../kit/price/items.ts'
import { Price } from '../../../kit/price/Price.tsx'
import { useOrdering } from '../../../kit/price/useOrdering.ts'
import { useUnorderable } from '../../../kit/price/useQuote.ts'
import { CloudNotice } from '../CloudNotice.tsx'
import { NextStackPage } from '../NextStackPage.tsx'
import { SizeInput } from '../../../kit/SizeInput.tsx'
import { refusing, wrongWith } from '../../../kit/rules.ts'
import { ContentCards } from './ContentCards.tsx'
import { PathField } from './PathField.tsx'
import { PoolField } from './PoolField.tsx'
import { SourceFields, useSource } from './SourceFields.tsx'
import { invalidatedByVolume } from './storageRules.ts'
import { VmSelect } from './VmSelect.tsx'
import { VolumeAddAside } from './VolumeAddAside.tsx'
import { bodyOf, gib, sources, type VolumeValues } from './volumeForm.ts'

const { shape } = volumes.create.body

/** Makes a volume: empty, or from what was kept of another; the address may say from what, and for which instance. */
export default function VolumeAdd() {
  const { t } = useTranslation(['storage', 'price'])
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const bpId = useCurrentUser()?.bp_id ?? null
  const { list, selected, loading } = useClouds()
  const clouds = list.filter(({ product }) => product === 'nextstack')
  const [form] = Form.useForm<VolumeValues>()
  const [snapshotId, backupId, vmId] = [search.get('snapshot') ?? undefined, search.get('backup') ?? undefined, search.get('vm') ?? undefined]
  const initial: VolumeValues = {
    cloud_id: clouds.find(({ cloud_id }) => cloud_id === selected?.cloud_id)?.cloud_id ?? clouds[0]?.cloud_id ?? '',
    name: '',
    description: '',
    source: snapshotId !== undefined ? 'snapshot' : backupId !== undefined ? 'backup' : 'empty',
    snapshot_id: snapshotId,
    backup_id: backupId,
    content: 'filesystem',
    size_bytes: 10 * gib,
    attaching: vmId !== undefined,
    attach: { vm_id: vmId, path: '/data' },
  }
  const typed = Form.useWatch((values: VolumeValues) => values, form) ?? initial
  const cloud = clouds.find(({ cloud_id }) => cloud_id === typed.cloud_id)
  const source = useSource(typed)
  const [billing, setBilling] = useState<Billing>(byHour)
  const ordering = useOrdering()
  const pools = useCall(
    storagePools.list,
    { query: { cloud_id: cloud?.cloud_id, page_size: 1000, sort: 'name' } },
    { enabled: cloud !== undefined, silent: true },
  ).data?.items
  // The same choice as the server's where none was made.
  const poolName = typed.pool ?? (pools?.find(({ name }) => name === 'default') ?? pools?.[0])?.name ?? ''
  const items = volumeItems({ pool: poolName, size_bytes: typed.size_bytes ?? 0 })
  const unorderable = useUnorderable(items, billing)
  const create = useChange(volumes.create, { invalidates: invalidatedByVolume, silent: true })

  // What a copy is, it is by what it is copied from.
  const { cloudId, content, pool, sizeBytes: leastBytes = 0 } = source ?? {}
  useEffect(() => {
    if (cloudId === undefined) return
    const { size_bytes } = form.getFieldsValue()
    form.setFieldsValue({
      cloud_id: cloudId,
      ...(content !== undefined && { content }),
      ...(pool !== undefined && { pool }),
      ...((size_bytes ?? 0) < leastBytes && { size_bytes: leastBytes }),
    })
  }, [form, cloudId, content, pool, leastBytes])

  if (loading) return <PagePlaceholder />
  return (
    <NextStackPage possible={clouds.length > 0}>
      {cloud !== undefined && <CloudNotice cloud={cloud} />}
      <FormPage<VolumeValues>
        form={form}
        submitText={billing.mode === 'hour' ? t('add.submit') : t('price:toPay')}
        submitDisabled={unorderable}
        initialValues={initial}
        aside={
          <>
            <div className="zs-card">
              <h2>{t('price:title')}</h2>
              {bpId !== null && <BillingMode value={billing} onChange={setBilling} />}
              <Price items={items} period={billing.mode} count={billing.count} />
            </div>
            <VolumeAddAside sizeBytes={typed.size_bytes ?? 0} />
          </>
        }
        onCancel={() => void navigate(paths.nextstack.volume.list())}
        onSubmit={async (values) => {
          try {
            if (billing.mode !== 'hour') {
              await ordering.order({ resource_type: 'nextstack.volume', create: bodyOf(values) }, billing)
              return
            }
            const volume = await create.mutateAsync({ body: bodyOf(values) })
            notify('success', t('done.create', { name: volume.name }))
            writeCloudChoice(values.cloud_id)
            void navigate(paths.nextstack.volume.detail(volume.id))
          } catch (thrown) {
            // What names a field stands beside it.
            const error = toApiError(thrown)
            if (error.fields.length === 0 && error.status !== 401) toastError(error)
            throw error
          }
        }}
      >
        <Form.Item name="cloud_id" label={t('field.cloud')} required>
          <Select
            disabled={source !== undefined}
            options={clouds.map(({ cloud_id, name }) => ({ value: cloud_id, label: name }))}
            onChange={() => form.resetFields(['pool', 'snapshot_id', 'backup_id', ['attach', 'vm_id']])}
          />
        </Form.Item>
        <NameField schema={shape.name} />
        <RadioField name="source" label={t('field.source')} optionType="button" values={sources} labelOf={(value) => t(`source.${value}`)} />
        <SourceFields source={typed.source} cloudId={cloud?.cloud_id} />
        <Form.Item name="content" label={t('field.content')} {...(typed.source !== 'empty' && { extra: t('add.contentFixed') })}>
          <ContentCards disabled={typed.source !== 'empty'} />
        </Form.Item>
        <PoolField cloudId={cloud?.cloud_id} chosen={typed.pool} fixed={pool} />
        <Form.Item
          name="size_bytes"
          label={t('field.size')}
          required
          {...(leastBytes > 0 && { extra: t('add.sizeAtLeast', { size: format.bytes(leastBytes) }) })}
          rules={[
            refusing((value: number | null) =>
              value === null
                ? t('field.sizeRequired')
                : (wrongWith(shape.size_bytes, value) ?? (value < leastBytes && t('add.sizeAtLeast', { size: format.bytes(leastBytes) }))),
            ),
          ]}
        >
          {/* Its unit is chosen by the first size that it has. */}
          <SizeInput key={source?.id ?? ''} />
        </Form.Item>
        <SwitchField name="attaching" label={t('field.attaching')} />
        {typed.attaching && (
          <>
            <Field
              name={['attach', 'vm_id']}
              label={t('field.vm')}
              extra={typed.content === 'block' ? t('field.vmBlockNote') : t('field.vmNote')}
              missing={t('field.vmRequired')}
            >
              <VmSelect cloudId={cloud?.cloud_id} bpId={bpId} content={typed.content} />
            </Field>
            <PathField name={['attach', 'path']} content={typed.content} />
          </>
        )}
        <DescriptionField schema={shape.description} />
      </FormPage>
    </NextStackPage>
  )
}
