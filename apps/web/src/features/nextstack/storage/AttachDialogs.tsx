import Form from 'antd/es/form'
import Select from 'antd/es/select'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { volumes, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { Field } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { PathField } from './PathField.tsx'
import { invalidatedByVolume } from './storageRules.ts'
import { VmSelect } from './VmSelect.tsx'
import { pathOf } from './volumeForm.ts'

interface AttachValues {
  volume_id: string
  vm_id: string
  path: string
}

/** Attaches a volume to an instance of the person's choice. */
export function VolumeAttach({ volume, onClose }: Dialog<{ volume: Volume }>) {
  const { t } = useTranslation('storage')
  const attach = useChange(volumes.attach, { invalidates: invalidatedByVolume, silent: true })
  return (
    <FormDialog<AttachValues>
      title={t('attach.title', { name: volume.name })}
      okText={t('action.attach')}
      initialValues={{ path: '/data' }}
      doneText={t('done.attach', { name: volume.name })}
      onClose={onClose}
      onSubmit={({ vm_id, path }) => attach.mutateAsync({ params: { id: volume.id }, body: { vm_id, path: pathOf(volume.content, path) } })}
    >
      <Field name="vm_id" label={t('field.vm')} extra={volume.content === 'block' ? t('field.vmBlockNote') : t('field.vmNote')} missing={t('field.vmRequired')}>
        <VmSelect cloudId={volume.cloud_id} bpId={volume.bp_id} content={volume.content} />
      </Field>
      <PathField name="path" content={volume.content} />
    </FormDialog>
  )
}

/** Attaches one of the free volumes to this instance. */
export function VmAttach({ vm, onClose }: Dialog<{ vm: Pick<Vm, 'id' | 'name' | 'type' | 'cloud_id' | 'bp_id'> }>) {
  const { t } = useTranslation('storage')
  const [form] = Form.useForm<AttachValues>()
  const chosenId = Form.useWatch('volume_id', form)
  const attach = useChange(volumes.attach, { invalidates: invalidatedByVolume, silent: true })
  const { data, isPending } = useCall(volumes.list, { query: { cloud_id: vm.cloud_id, status: 'available', page_size: 1000, sort: 'name' } })
  const free = (data?.items ?? []).filter(({ bp_id, content }) => bp_id === vm.bp_id && (content === 'filesystem' || vm.type === 'vm'))
  const chosen = free.find(({ id }) => id === chosenId)
  return (
    <FormDialog<AttachValues>
      form={form}
      title={t('attach.titleVm', { name: vm.name })}
      okText={t('action.attach')}
      initialValues={{ path: '/data' }}
      doneText={t('done.attach', { name: chosen?.name ?? '' })}
      onClose={onClose}
      onSubmit={({ volume_id, path }) =>
        attach.mutateAsync({ params: { id: volume_id }, body: { vm_id: vm.id, path: pathOf(chosen?.content ?? 'filesystem', path) } })
      }
    >
      <Field name="volume_id" label={t('field.volume')} extra={t('attach.volumeNote')} missing={t('field.volumeRequired')}>
        <Select
          showSearch={{ optionFilterProp: 'title' }}
          loading={isPending}
          notFoundContent={isPending ? null : t('attach.noVolume')}
          options={free.map(({ id, name, size_bytes, content }) => ({
            value: id,
            title: name,
            label: t('attach.volumeOption', { name, size: format.bytes(size_bytes), content: t(`content.${content}`) }),
          }))}
        />
      </Field>
      <PathField name="path" content={chosen?.content ?? 'filesystem'} />
    </FormDialog>
  )
}
