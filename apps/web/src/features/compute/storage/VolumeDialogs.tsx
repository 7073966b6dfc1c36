import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { computeVolumes, computeVolumeSnapshots, type ComputeVolume } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { ConfirmDialog } from '../../../kit/ConfirmDialog.tsx'
import { CheckField, Field, RadioField } from '../../../kit/fields.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import * as format from '../../../kit/format.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { NameField } from '../../../kit/NameFields.tsx'
import { notify } from '../../../api/notify.ts'
import { computeVolumeItems } from '../../../kit/price/items.ts'
import { PriceChange } from '../../../kit/price/Price.tsx'
import { StoragePrice } from '../../../kit/price/StoragePrice.tsx'
import { useCloudChoices } from '../CloudTable.tsx'
import { useOwner } from '../tenancy/useOwner.ts'
import { ServerChoice, TypeChoice } from './Choices.tsx'
import { GibInput } from '../../../kit/GibInput.tsx'
import { refusing, wrongWith } from '../../../kit/rules.ts'
import { titleOf, invalidatedByStorage } from './storageRules.ts'

export interface OfVolume {
  readonly cloudId: string
  readonly volume: ComputeVolume
  readonly onClose: () => void
}
const changes = { invalidates: invalidatedByStorage, silent: true } as const
const at = ({ cloudId, volume }: OfVolume) => ({ cloud_id: cloudId, id: volume.id })

export function AttachDialog(of: OfVolume) {
  const { t } = useTranslation('computeStorage')
  const { volume, onClose } = of
  const attach = useChange(computeVolumes.attach, changes)
  return (
    <FormDialog<{ server_id: string }>
      title={t('attach.title', { name: titleOf(volume) })}
      okText={t('action.attach')}
      initialValues={{}}
      doneText={t('done.attach', { name: titleOf(volume) })}
      onClose={onClose}
      onSubmit={(body) => attach.mutateAsync({ params: at(of), body })}
    >
      {volume.multiattach && <Alert className="zs-above" type="warning" showIcon title={t('attach.multi')} />}
      <Field name="server_id" label={t('attach.server')} extra={t('attach.serverNote')} missing={t('attach.serverRequired')}>
        <ServerChoice cloudId={of.cloudId} keystoneProjectId={volume.keystone_project_id} />
      </Field>
    </FormDialog>
  )
}

/** @param nameOf what instances are called */
export function DetachDialog({ nameOf, ...of }: OfVolume & { readonly nameOf: (id: string) => string }) {
  const { t } = useTranslation('computeStorage')
  const { volume, onClose } = of
  const detach = useChange(computeVolumes.detach, changes)
  return (
    <FormDialog<{ server_id: string }>
      title={t('detach.title', { name: titleOf(volume) })}
      okText={t('action.detach')}
      initialValues={{ ...(volume.attachments[0] !== undefined && { server_id: volume.attachments[0].server_id }) }}
      doneText={t('done.detach', { name: titleOf(volume) })}
      onClose={onClose}
      onSubmit={(body) => detach.mutateAsync({ params: at(of), body })}
    >
      <Alert className="zs-above" type="warning" showIcon title={t('detach.note')} />
      <Field name="server_id" label={t('detach.from')} missing={t('attach.serverRequired')}>
        <Select
          autoFocus
          options={volume.attachments.map(({ server_id, device }) => ({ value: server_id, label: t('detach.device', { server: nameOf(server_id), device }) }))}
        />
      </Field>
    </FormDialog>
  )
}

export function GrowDialog(of: OfVolume) {
  const { t } = useTranslation('computeStorage')
  const { volume, onClose } = of
  const [form] = Form.useForm<{ size_bytes: number | null }>()
  const wanted = Form.useWatch('size_bytes', form) ?? 0
  const grow = useChange(computeVolumes.grow, changes)
  const owner = useOwner(of.cloudId, volume.keystone_project_id)
  const [from, to] = [format.bytes(volume.size_bytes), format.bytes(wanted)]
  const { size_bytes } = computeVolumes.grow.body.shape
  return (
    <FormDialog<{ size_bytes: number | null }>
      form={form}
      title={t('grow.title', { name: titleOf(volume) })}
      okText={t('action.grow')}
      initialValues={{ size_bytes: volume.size_bytes * 2 }}
      doneText={t('done.grow', { name: titleOf(volume), size: to })}
      onClose={onClose}
      onSubmit={(values) => grow.mutateAsync({ params: at(of), body: { size_bytes: values.size_bytes ?? 0 } })}
    >
      {volume.status === 'in-use' && <Alert className="zs-above" type="warning" showIcon title={t('grow.inUse')} />}
      <Form.Item
        name="size_bytes"
        label={t('grow.size')}
        required
        extra={
          <span aria-live="polite" className="zs-number">
            {wanted > volume.size_bytes ? t('grow.change', { from, to, more: format.bytes(wanted - volume.size_bytes) }) : t('grow.now', { from })}
          </span>
        }
        rules={[
          refusing((value: number | null) =>
            value === null ? t('add.sizeRequired') : (wrongWith(size_bytes, value) ?? (value <= volume.size_bytes && t('grow.larger', { from }))),
          ),
        ]}
      >
        <GibInput />
      </Form.Item>
      <PriceChange
        now={computeVolumeItems([volume])}
        then={computeVolumeItems([{ ...volume, size_bytes: Math.max(wanted, volume.size_bytes) }])}
        bpId={owner}
      />
      <Alert type="info" showIcon title={t('grow.note')} />
    </FormDialog>
  )
}

export function RetypeDialog(of: OfVolume) {
  const { t } = useTranslation('computeStorage')
  const { volume, onClose } = of
  const [form] = Form.useForm<{ type: string; migrate: boolean }>()
  const type = Form.useWatch('type', form) ?? volume.type
  const retype = useChange(computeVolumes.retype, changes)
  const owner = useOwner(of.cloudId, volume.keystone_project_id)
  return (
    <FormDialog<{ type: string; migrate: boolean }>
      form={form}
      title={t('retype.title', { name: titleOf(volume) })}
      okText={t('action.retype')}
      initialValues={{ migrate: false }}
      doneText={t('done.retype', { name: titleOf(volume) })}
      onClose={onClose}
      onSubmit={(body) => retype.mutateAsync({ params: at(of), body })}
    >
      <Field name="type" label={t('retype.type')} missing={t('retype.typeRequired')}>
        <TypeChoice cloudId={of.cloudId} except={volume.type} autoFocus />
      </Field>
      <CheckField name="migrate" text={t('retype.migrate')} extra={t('retype.migrateNote')} />
      <PriceChange now={computeVolumeItems([volume])} then={computeVolumeItems([{ ...volume, type }])} bpId={owner} />
    </FormDialog>
  )
}

export function ToImageDialog(of: OfVolume) {
  const { t } = useTranslation('computeStorage')
  const { volume, onClose } = of
  const toImage = useChange(computeVolumes.toImage, changes)
  const owner = useOwner(of.cloudId, volume.keystone_project_id)
  return (
    <FormDialog<{ name: string; format: 'raw' | 'qcow2'; force?: boolean }>
      title={t('toImage.title', { name: titleOf(volume) })}
      okText={t('toImage.ok')}
      initialValues={{ format: 'raw' }}
      doneText={t('done.toImage', { name: titleOf(volume) })}
      onClose={onClose}
      onSubmit={(body) => toImage.mutateAsync({ params: at(of), body: { ...body, force: body.force === true } })}
    >
      <NameField schema={computeVolumes.toImage.body.shape.name} />
      <RadioField name="format" label={t('toImage.format')} values={['raw', 'qcow2'] as const} labelOf={(value) => t(`toImage.${value}`)} />
      {volume.status === 'in-use' && <ForceField />}
      <StoragePrice meter="image.size" bytes={volume.size_bytes} bpId={owner} />
      <Alert type="info" showIcon title={t('toImage.note')} />
    </FormDialog>
  )
}

/** What is asked of a volume in use: to be done in the knowledge of what may be missing. */
export function ForceField() {
  const { t } = useTranslation('computeStorage')
  return (
    <>
      <Alert className="zs-above" type="warning" showIcon title={t('keep.inUse')} description={t('keep.inUseNote')} />
      <CheckField name="force" text={t('keep.force')} missing={t('keep.forceRequired')} />
    </>
  )
}

export function ResetDialog(of: OfVolume) {
  const { t } = useTranslation('computeStorage')
  const { volume, onClose } = of
  const reset = useChange(computeVolumes.resetStatus, changes)
  return (
    <FormDialog<{ status: 'available' | 'in-use' | 'error' }>
      title={t('reset.title', { name: titleOf(volume) })}
      okText={t('action.resetStatus')}
      initialValues={{ status: volume.attachments.length > 0 ? 'in-use' : 'available' }}
      doneText={t('done.reset', { name: titleOf(volume) })}
      onClose={onClose}
      onSubmit={(body) => reset.mutateAsync({ params: at(of), body })}
    >
      <Alert className="zs-above" type="warning" showIcon title={t('reset.note')} />
      <RadioField name="status" label={t('reset.status')} values={['available', 'in-use', 'error'] as const} labelOf={(value) => t(`status.${value}`)} />
    </FormDialog>
  )
}

/** Says which snapshots go with it; those that came to be meanwhile make the server refuse. */
export function DeleteDialog({ onDeleted, ...of }: OfVolume & { readonly onDeleted?: (() => void) | undefined }) {
  const { t } = useTranslation('computeStorage')
  const { volume, onClose } = of
  const remove = useChange(computeVolumes.delete, { invalidates: invalidatedByStorage })
  const { data } = useCloudChoices(computeVolumeSnapshots.list, of.cloudId)
  const snapshots = (data?.items ?? []).filter(({ volume_id }) => volume_id === volume.id)
  const name = titleOf(volume)
  return (
    <ConfirmDialog
      danger
      okText={t('action.delete')}
      confirmation={{
        title: t('remove.title', { name }),
        typeToConfirm: name,
        body: (
          <>
            <p>{t('remove.body')}</p>
            {snapshots.length > 0 && (
              <>
                <p>
                  <strong>
                    {t('remove.snapshots', {
                      count: snapshots.length,
                      names: firstNames(snapshots.map(titleOf), t('remove.more', { count: snapshots.length })),
                    })}
                  </strong>
                </p>
                <p>{t('remove.copies')}</p>
              </>
            )}
          </>
        ),
      }}
      onCancel={onClose}
      onConfirm={() =>
        remove.mutateAsync({ params: at(of), query: { cascade: snapshots.length > 0 ? 'true' : 'false' } }).then(
          () => {
            notify('success', t('done.delete', { name }))
            onClose()
            onDeleted?.()
          },
          // The change has said it.
          () => undefined,
        )
      }
    />
  )
}
