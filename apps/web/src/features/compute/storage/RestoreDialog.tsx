import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { computeVolumeBackups, computeVolumeCan, computeVolumes, type ComputeVolume, type ComputeVolumeBackup } from '@zhisuan/contract/compute/volume'
import { name as nameSchema } from '@zhisuan/contract/validation'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { CheckField, Field, TextField } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { computeVolumeItems } from '../../../kit/price/items.ts'
import { NewPrice } from '../../../kit/price/NewPrice.tsx'
import { nameAt } from '../../../kit/nameAt.ts'
import { useCloudChoices } from '../CloudTable.tsx'
import { useOwner } from '../tenancy/useOwner.ts'
import { VolumeChoice } from './Choices.tsx'
import { titleOf, invalidatedByStorage } from './storageRules.ts'

interface RestoreValues {
  target: 'new' | 'same' | 'other'
  name: string
  volume_id?: string
  sure?: boolean
}

/** Writes a backup to a new volume, to the one that it is of, or to another; says what is overwritten. */
export function RestoreDialog({ cloudId, backup, nameOf, onClose }: Dialog<{ cloudId: string; backup: ComputeVolumeBackup; nameOf: (id: string) => string }>) {
  const { t } = useTranslation('computeStorage')
  const [form] = Form.useForm<RestoreValues>()
  const [proposed] = useState(() => nameAt('restored', new Date()))
  const target = Form.useWatch('target', form) ?? 'new'
  const chosenId = Form.useWatch('volume_id', form)
  const restore = useChange(computeVolumeBackups.restore, { invalidates: invalidatedByStorage, silent: true })
  const owner = useOwner(cloudId, backup.keystone_project_id)
  const volumes = useCloudChoices(computeVolumes.list, cloudId).data?.items ?? []
  const fits = (volume: ComputeVolume): boolean =>
    computeVolumeCan.restoreInto.includes(volume.status as 'available') &&
    volume.size_bytes >= backup.size_bytes &&
    (backup.keystone_project_id === null || volume.keystone_project_id === backup.keystone_project_id)
  const same = volumes.find((volume) => volume.id === backup.volume_id && fits(volume))
  const into = target === 'new' ? undefined : target === 'same' ? same : volumes.find(({ id }) => id === chosenId)
  return (
    <FormDialog<RestoreValues>
      form={form}
      title={t('restore.title', { name: titleOf(backup) })}
      okText={t('restore.ok')}
      initialValues={{ target: 'new', name: proposed }}
      doneText={t('done.restore')}
      onClose={onClose}
      onSubmit={({ name }) =>
        restore.mutateAsync({
          params: { cloud_id: cloudId, id: backup.id },
          body: target === 'new' ? { volume_id: null, name } : { volume_id: into?.id ?? '' },
        })
      }
    >
      <Form.Item name="target" label={t('restore.target')} {...(same === undefined && { extra: t('restore.sameGone', { name: nameOf(backup.volume_id) }) })}>
        <Radio.Group
          options={[
            { value: 'new', label: t('restore.new') },
            { value: 'same', label: t('restore.same'), disabled: same === undefined },
            { value: 'other', label: t('restore.other') },
          ]}
        />
      </Form.Item>
      {target === 'new' && <TextField name="name" label={t('restore.name')} schema={nameSchema} autoFocus />}
      {/* Its type is the cloud's to choose. */}
      {target === 'new' && <NewPrice items={computeVolumeItems([{ type: null, size_bytes: backup.size_bytes }])} bpId={owner} />}
      {target === 'other' && (
        <Field
          name="volume_id"
          label={t('restore.volume')}
          extra={t('restore.volumeNote', { size: format.bytes(backup.size_bytes) })}
          missing={t('restore.volumeRequired')}
        >
          <VolumeChoice cloudId={cloudId} fits={fits} />
        </Field>
      )}
      {into !== undefined && (
        <>
          <Alert className="zs-above" type="error" showIcon title={t('restore.overwrite', { name: titleOf(into) })} />
          {/* Of another volume it is asked anew. */}
          <CheckField key={into.id} text={t('restore.sure', { name: titleOf(into) })} name="sure" preserve={false} missing={t('restore.sureRequired')} />
        </>
      )}
    </FormDialog>
  )
}
