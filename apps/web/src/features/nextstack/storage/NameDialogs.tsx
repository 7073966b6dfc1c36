import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { volumeBackups, volumes, volumeSnapshots, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { Field } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { StoragePrice } from '../../../kit/price/StoragePrice.tsx'
import { invalidatedByVolume } from './storageRules.ts'
import { nameAt } from '../../../kit/nameAt.ts'

interface NameValues {
  name: string
  description: string
}

function NameFields({ focus = true }: { readonly focus?: boolean }) {
  // The same of volumes, snapshots and backups.
  const { shape } = volumes.update.body
  return (
    <>
      <NameField schema={shape.name} focus={focus} />
      <DescriptionField schema={shape.description} rows={3} />
    </>
  )
}

/** Changes what a volume or a snapshot is called. */
export function Rename({
  of,
  kind,
  onClose,
}: Dialog<{ of: { readonly id: string; readonly name: string; readonly description: string }; kind: 'volume' | 'snapshot' }>) {
  const { t } = useTranslation('storage')
  const volume = useChange(volumes.update, { invalidates: invalidatedByVolume, silent: true })
  const snapshot = useChange(volumeSnapshots.update, { invalidates: invalidatedByVolume, silent: true })
  const update = kind === 'volume' ? volume : snapshot
  return (
    <FormDialog<NameValues>
      title={t('rename.title', { name: of.name })}
      okText={t('rename.ok')}
      initialValues={{ name: of.name, description: of.description }}
      doneText={t('done.rename')}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: { id: of.id }, body })}
    >
      <NameFields />
    </FormDialog>
  )
}

/** Keeps a volume as it is now: beside it as a snapshot, or as a file of its own as a backup. */
export function VolumeKeep({
  volume,
  kind,
  onClose,
}: Dialog<{ volume: Pick<Volume, 'id' | 'name' | 'status' | 'size_bytes' | 'bp_id'>; kind: 'snapshot' | 'backup' }>) {
  const { t } = useTranslation('storage')
  const [proposed] = useState(() => nameAt(kind === 'snapshot' ? 'snap' : 'backup', new Date()))
  const keep = useKeep(kind)
  return (
    <FormDialog<NameValues>
      title={t(`keep.title.${kind}`, { name: volume.name })}
      okText={t(`keep.ok.${kind}`)}
      initialValues={{ name: proposed, description: '' }}
      doneText={t(`done.${kind}`, { name: volume.name })}
      onClose={onClose}
      onSubmit={(values) => keep({ ...values, volume_id: volume.id })}
    >
      <Alert className="zs-above" type="info" showIcon title={t(`keep.note.${kind}`)} {...(volume.status === 'in_use' && { description: t('keep.inUse') })} />
      <NameFields />
      <KeptPrice volume={volume} kind={kind} />
    </FormDialog>
  )
}

/** The same for a volume that is chosen first. */
export function KeepAny({ cloudId, kind, onClose }: Dialog<{ cloudId: string; kind: 'snapshot' | 'backup' }>) {
  const { t } = useTranslation('storage')
  const [proposed] = useState(() => nameAt(kind === 'snapshot' ? 'snap' : 'backup', new Date()))
  const [form] = Form.useForm<NameValues & { volume_id: string }>()
  const chosenId = Form.useWatch('volume_id', form)
  const keep = useKeep(kind)
  const { data, isPending } = useCall(volumes.list, { query: { cloud_id: cloudId, page_size: 1000, sort: 'name' } })
  const chosen = data?.items.find(({ id }) => id === chosenId)
  return (
    <FormDialog<NameValues & { volume_id: string }>
      form={form}
      title={t(`keep.any.${kind}`)}
      okText={t(`keep.ok.${kind}`)}
      initialValues={{ name: proposed, description: '' }}
      doneText={t(`done.${kind}`, { name: chosen?.name ?? '' })}
      onClose={onClose}
      onSubmit={keep}
    >
      <Alert className="zs-above" type="info" showIcon title={t(`keep.note.${kind}`)} {...(chosen?.status === 'in_use' && { description: t('keep.inUse') })} />
      <Field name="volume_id" label={t('field.volume')} missing={t('field.volumeRequired')}>
        <Select
          autoFocus
          showSearch={{ optionFilterProp: 'title' }}
          loading={isPending}
          notFoundContent={isPending ? null : t('keep.noVolume')}
          options={(data?.items ?? []).map(({ id, name, size_bytes, status }) => ({
            value: id,
            title: name,
            label: t('attach.volumeOption', { name, size: format.bytes(size_bytes), content: t(`volume.status.${status}`) }),
            disabled: status !== 'available' && status !== 'in_use',
          }))}
        />
      </Field>
      <NameFields focus={false} />
      {chosen !== undefined && <KeptPrice volume={chosen} kind={kind} />}
    </FormDialog>
  )
}

/** A snapshot is billed like its volume, a backup by what its file turns out to be. */
const KeptPrice = ({
  volume: { size_bytes, bp_id },
  kind,
}: {
  readonly volume: Pick<Volume, 'size_bytes' | 'bp_id'>
  readonly kind: 'snapshot' | 'backup'
}) => <StoragePrice meter={`${kind}.size`} bytes={size_bytes} exact={kind === 'snapshot'} bpId={bp_id} />

function useKeep(kind: 'snapshot' | 'backup'): (body: NameValues & { readonly volume_id: string }) => Promise<unknown> {
  const snapshot = useChange(volumeSnapshots.create, { invalidates: invalidatedByVolume, silent: true })
  const backup = useChange(volumeBackups.create, { invalidates: invalidatedByVolume, silent: true })
  return (body) => (kind === 'snapshot' ? snapshot : backup).mutateAsync({ body })
}
