import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { computeVolumes, computeVolumeTypes } from '@zhisuan/contract/compute/volume'
import type { BodyInput } from '@zhisuan/contract/define'
import { useEffect } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { toApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify, toastError } from '../../../api/notify.ts'
import { SelectField } from '../../../kit/SelectField.tsx'
import { CheckField, Field } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormPage } from '../../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { paths } from '../../../paths.ts'
import { computeVolumeItems } from '../../../kit/price/items.ts'
import { LeastBalance } from '../../../kit/price/LeastBalance.tsx'
import { Price } from '../../../kit/price/Price.tsx'
import { useCloudChoices } from '../CloudTable.tsx'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { QuotaWarning } from '../tenancy/QuotaWarning.tsx'
import { SourceChoice, useSources, type SourceKind } from './Choices.tsx'
import { GibInput } from '../../../kit/GibInput.tsx'
import { refusing, wrongWith } from '../../../kit/rules.ts'
import { StoragePage, useZones } from './StoragePage.tsx'
import { gib, invalidatedByStorage } from './storageRules.ts'
import './storage.css'

interface VolumeValues {
  name: string
  description: string
  kind: SourceKind | 'empty'
  /** One of each kind, so that each keeps its choice. */
  image_id?: string
  snapshot_id?: string
  volume_id?: string
  backup_id?: string
  size_bytes: number | null
  type?: string
  zone?: string
  project_id?: string
  bootable: boolean
}
const fieldOf = { image: 'image_id', snapshot: 'snapshot_id', volume: 'volume_id', backup: 'backup_id' } as const
const kinds = ['empty', 'image', 'snapshot', 'volume', 'backup'] as const
const { shape } = computeVolumes.create.body

/** Makes a volume: empty, or of something that there is; the address may say of what. */
export default function VolumeAdd() {
  return <StoragePage>{(cloud) => <VolumeForm key={cloud?.cloud_id} cloudId={cloud?.cloud_id ?? null} />}</StoragePage>
}

function VolumeForm({ cloudId }: { readonly cloudId: string | null }) {
  const { t } = useTranslation(['computeStorage', 'price'])
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const [form] = Form.useForm<VolumeValues>()
  const create = useChange(computeVolumes.create, { invalidates: invalidatedByStorage, silent: true })
  const zones = useZones().data?.items ?? []
  const types = useCloudChoices(computeVolumeTypes.list, cloudId).data?.items ?? []
  const preset = kinds.find((kind) => kind !== 'empty' && search.has(kind))
  const initial: VolumeValues = {
    name: '',
    description: '',
    kind: preset ?? 'empty',
    ...(preset !== undefined && preset !== 'empty' && { [fieldOf[preset]]: search.get(preset) ?? '' }),
    size_bytes: 10 * gib,
    bootable: false,
  }
  const kind = Form.useWatch('kind', form) ?? initial.kind
  const chosenId = Form.useWatch(kind === 'empty' ? 'name' : fieldOf[kind], form)
  const { sources } = useSources(kind, cloudId)
  const source = kind === 'empty' ? undefined : sources.find(({ id }) => id === chosenId)
  const sizeBytes = Form.useWatch('size_bytes', form) ?? initial.size_bytes ?? 0
  const type = Form.useWatch('type', form) ?? null
  const projectId = Form.useWatch('project_id', form) ?? null
  /** What is made of a snapshot, volume or backup lies beside it. */
  const beside = kind === 'empty' || kind === 'image' ? null : (source?.keystoneProjectId ?? '')
  const leastBytes = Math.ceil((source?.sizeBytes ?? 0) / gib) * gib

  // Smaller than what it is made of it cannot be.
  useEffect(() => {
    if ((form.getFieldValue('size_bytes') ?? 0) < leastBytes) form.setFieldValue('size_bytes', leastBytes)
  }, [form, leastBytes])

  return (
    <FormPage<VolumeValues>
      form={form}
      initialValues={initial}
      submitText={t('add.submit')}
      aside={
        <>
          <div className="zs-card">
            <h2>{t('price:title')}</h2>
            <Price items={computeVolumeItems([{ type, size_bytes: sizeBytes }])} period="hour" />
            <LeastBalance />
          </div>
          <div className="zs-card">
            <h2>{t('add.aboutTitle')}</h2>
            <ul className="co-about">
              {(['apart', 'grows', 'copies'] as const).map((about) => (
                <li key={about}>{t(`add.about.${about}`)}</li>
              ))}
            </ul>
          </div>
        </>
      }
      onCancel={() => void navigate(paths.compute.volume.list())}
      onSubmit={async (values) => {
        try {
          const volume = await create.mutateAsync({ params: { cloud_id: cloudId ?? '' }, body: bodyOf(values) })
          notify('success', t('done.create', { name: volume.name }))
          void navigate(paths.compute.volume.detail(volume.id))
        } catch (thrown) {
          // What names a field stands beside it.
          const error = toApiError(thrown)
          if (error.fields.length === 0 && error.status !== 401) toastError(error)
          throw error
        }
      }}
    >
      <NameField schema={shape.name} />
      <Form.Item name="kind" label={t('add.source')} {...(kind !== 'empty' && { extra: t(kind === 'image' ? 'add.fromImageNote' : 'add.ofSource') })}>
        <Radio.Group optionType="button" options={kinds.map((value) => ({ value, label: t(`add.sources.${value}`) }))} />
      </Form.Item>
      {kind !== 'empty' && (
        <Field key={kind} name={fieldOf[kind]} label={t(`add.sources.${kind}`)} missing={t('add.choose', { what: t(`add.sources.${kind}`) })}>
          <SourceChoice kind={kind} cloudId={cloudId} />
        </Field>
      )}
      <Form.Item
        name="size_bytes"
        label={t('add.size')}
        required
        {...(leastBytes > 0 && { extra: t('add.sizeAtLeast', { size: format.bytes(leastBytes) }) })}
        rules={[
          refusing((value: number | null) =>
            value === null
              ? t('add.sizeRequired')
              : (wrongWith(shape.size_bytes, value) ?? (value < leastBytes && t('add.sizeAtLeast', { size: format.bytes(leastBytes) }))),
          ),
        ]}
      >
        <GibInput />
      </Form.Item>
      <SelectField
        name="type"
        label={t('add.type')}
        allowClear
        placeholder={t(kind === 'empty' || kind === 'image' ? 'add.typeDefault' : 'add.typeOfSource')}
        options={types.map(({ name, description }) => ({ value: name, label: description === '' ? name : `${name}（${description}）` }))}
      />
      <SelectField
        name="zone"
        label={t('add.zone')}
        allowClear
        placeholder={t('add.zoneAny')}
        options={zones.map(({ name, available }) => ({ value: name, label: available ? name : t('add.zoneDown', { name }), disabled: !available }))}
      />
      {kind === 'empty' && <CheckField name="bootable" text={t('add.bootable')} extra={t('add.bootableNote')} />}
      {beside === null && <ProjectField />}
      <DescriptionField schema={shape.description} />
      <QuotaWarning
        cloudId={cloudId}
        place={beside === null ? { project_id: projectId } : { keystone_project_id: beside }}
        wants={{ volumes: 1, volume_bytes: sizeBytes }}
      />
    </FormPage>
  )
}

/** What the chosen source does not ask for stays out. */
function bodyOf({ name, description, kind, size_bytes, type, zone, project_id, bootable, ...ids }: VolumeValues): BodyInput<typeof computeVolumes.create> {
  return {
    name,
    description,
    // The form's rule let no empty one through.
    size_bytes: size_bytes ?? 0,
    ...(type !== undefined && { type }),
    ...(zone !== undefined && { zone }),
    ...(project_id !== undefined && (kind === 'empty' || kind === 'image') && { project_id }),
    ...(kind === 'empty' ? { bootable } : { [fieldOf[kind]]: ids[fieldOf[kind]] }),
  }
}
