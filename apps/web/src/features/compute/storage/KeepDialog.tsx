import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import {
  computeVolumeBackups,
  computeVolumeCan,
  computeVolumes,
  computeVolumeSnapshots,
  type ComputeVolume,
  type ComputeVolumeSnapshot,
} from '@zhisuan/contract/compute/volume'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { Field } from '../../../kit/fields.tsx'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { nameAt } from '../../../kit/nameAt.ts'
import { StoragePrice } from '../../../kit/price/StoragePrice.tsx'
import { useCloudChoices } from '../CloudTable.tsx'
import { VolumeChoice } from './Choices.tsx'
import { titleOf, invalidatedByStorage } from './storageRules.ts'
import { ForceField } from './VolumeDialogs.tsx'

interface KeepValues {
  name: string
  description: string
  volume_id?: string
  incremental?: boolean
  force?: boolean
}

/** Keeps a volume as it is now: beside it as a snapshot, or in the store of backups; `snapshot`: as it was then. */
export function KeepDialog({
  cloudId,
  kind,
  volume,
  snapshot,
  onClose,
}: {
  readonly cloudId: string
  readonly kind: 'snapshot' | 'backup'
  /** Undefined: to be chosen. */
  readonly volume?: Pick<ComputeVolume, 'id' | 'name' | 'status'> | undefined
  readonly snapshot?: ComputeVolumeSnapshot
  readonly onClose: () => void
}) {
  const { t } = useTranslation('computeStorage')
  const [form] = Form.useForm<KeepValues>()
  const [proposed] = useState(() => nameAt(kind === 'snapshot' ? 'snap' : 'backup', new Date()))
  const createSnapshot = useChange(computeVolumeSnapshots.create, { invalidates: invalidatedByStorage, silent: true })
  const createBackup = useChange(computeVolumeBackups.create, { invalidates: invalidatedByStorage, silent: true })
  const chosenId = Form.useWatch('volume_id', form) ?? volume?.id ?? snapshot?.volume_id
  const known = useCloudChoices(computeVolumes.list, cloudId).data?.items.find(({ id }) => id === chosenId)
  const chosen = known ?? volume
  // Either costs by the size of its volume, which is all that a cloud says of it.
  const sizeBytes = snapshot?.size_bytes ?? known?.size_bytes
  const backups = useCloudChoices(computeVolumeBackups.list, kind === 'backup' ? cloudId : null).data?.items ?? []
  const hasFull = backups.some((one) => one.volume_id === chosenId && one.status === 'available')
  // The snapshot is as it was then: nobody writes to it.
  const inUse = snapshot === undefined && chosen?.status === 'in-use'
  const name = snapshot === undefined ? (chosen === undefined ? '' : titleOf(chosen)) : titleOf(snapshot)
  const texts =
    kind === 'snapshot'
      ? (['keep.titleSnapshot', 'keep.anySnapshot', 'keep.okSnapshot', 'keep.noteSnapshot', 'done.snapshot'] as const)
      : (['keep.titleBackup', 'keep.anyBackup', 'keep.okBackup', 'keep.noteBackup', 'done.backup'] as const)
  const [title, any, ok, note, done] = texts
  const { name: nameSchema, description } = computeVolumeSnapshots.create.body.shape

  return (
    <FormDialog<KeepValues>
      form={form}
      title={volume === undefined && snapshot === undefined ? t(any) : t(title, { name })}
      okText={t(ok)}
      initialValues={{ name: proposed, description: '', incremental: false }}
      doneText={t(done, { name })}
      onClose={onClose}
      onSubmit={({ name: called, description: said, incremental, force }) => {
        const body = { name: called, description: said, volume_id: chosenId ?? '', force: force === true }
        if (kind === 'snapshot') return createSnapshot.mutateAsync({ params: { cloud_id: cloudId }, body })
        return createBackup.mutateAsync({
          params: { cloud_id: cloudId },
          body: { ...body, incremental: incremental === true && hasFull, snapshot_id: snapshot?.id ?? null },
        })
      }}
    >
      <Alert className="zs-above" type="info" showIcon title={t(note)} />
      {volume === undefined && snapshot === undefined && (
        <Field name="volume_id" label={t('keep.volume')} missing={t('keep.volumeRequired')}>
          <VolumeChoice cloudId={cloudId} autoFocus fits={({ status }) => (computeVolumeCan[kind] as readonly string[]).includes(status)} />
        </Field>
      )}
      <NameField schema={nameSchema} focus={volume !== undefined || snapshot !== undefined} />
      {kind === 'backup' && (
        <Form.Item name="incremental" label={t('keep.way')} extra={hasFull ? t('keep.incrementalNote') : t('keep.noFull')}>
          <Radio.Group
            options={[
              { value: false, label: t('keep.full') },
              { value: true, label: t('keep.incremental'), disabled: !hasFull },
            ]}
          />
        </Form.Item>
      )}
      <DescriptionField schema={description} />
      {sizeBytes !== undefined && <StoragePrice meter={`${kind}.size`} bytes={sizeBytes} exact />}
      {inUse && <ForceField />}
    </FormDialog>
  )
}
