import InboxOutlined from '@ant-design/icons/es/icons/InboxOutlined'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import Upload from 'antd/es/upload'
import { imageLibrary } from '@zhisuan/contract/nextstack/image'
import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { vms, vmTypes } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { Field, RadioField, SwitchField, TextField } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { StoragePrice } from '../../../kit/price/StoragePrice.tsx'
import { refusing } from '../../../kit/rules.ts'
import { VmChoice } from '../snapshot/VmChoice.tsx'
import './image.css'
import type { ImageValues } from './ImageDrawer.tsx'

const { shape } = imageLibrary.fetch.body

/** What an image runs as: the file says it itself, and is asked for until it is there. */
function TypeField() {
  const { t } = useTranslation('image')
  return <RadioField name="type" label={t('field.type')} values={vmTypes} labelOf={(value) => t(`typeOption.${value}`)} />
}

/** A file of the person's own. */
export function FileFields() {
  const { t } = useTranslation('image')
  return (
    <>
      <Form.Item
        name="file"
        label={t('field.file')}
        required
        rules={[refusing((file: File | null) => (file === null ? t('field.fileRequired') : file.size === 0 && t('field.fileEmpty')))]}
      >
        <FileInput />
      </Form.Item>
      <TypeField />
      <SwitchField name="checked" label={t('field.checked')} extra={t('field.checkedNote')} />
    </>
  )
}

function FileInput({ id, value, onChange }: { readonly id?: string; readonly value?: File | null; readonly onChange?: (file: File) => void }) {
  const { t } = useTranslation('image')
  return (
    <Upload.Dragger
      {...(id !== undefined && { id })}
      showUploadList={false}
      beforeUpload={(file) => {
        onChange?.(file)
        return false
      }}
    >
      <InboxOutlined aria-hidden style={{ fontSize: 28 }} />
      {value === null || value === undefined ? (
        <>
          <div>{t('field.fileDrop')}</div>
          <div className="zs-soft">{t('field.fileNote')}</div>
        </>
      ) : (
        <>
          <div className="im-file">{value.name}</div>
          <div className="zs-soft">{t('field.fileChosen', { size: format.bytes(value.size) })}</div>
        </>
      )}
    </Upload.Dragger>
  )
}

/** What is behind an address. */
export function UrlFields() {
  const { t } = useTranslation('image')
  return (
    <>
      <Field name="url" label={t('field.url')} extra={t('field.urlNote')} validateTrigger="onBlur" schema={shape.url}>
        <Input inputMode="url" placeholder="https://" />
      </Field>
      <TextField name="sha256" label={t('field.sha256')} extra={t('field.sha256Note')} validateTrigger="onBlur" schema={shape.sha256} code />
      <TypeField />
    </>
  )
}

/** An instance that is stopped, or one of its snapshots. */
export function VmFields({ cloudId }: { readonly cloudId: string }) {
  const { t } = useTranslation('image')
  const form = Form.useFormInstance<ImageValues>()
  const vmId = Form.useWatch('vm_id', form)
  const vm = useCall(vms.get, { params: { id: vmId ?? '' } }, { enabled: vmId !== undefined, silent: true }).data
  const kept =
    useCall(
      snapshots.list,
      { query: { vm_id: vmId ?? '', status: 'available', page_size: 1000, sort: '-created_at' } },
      { enabled: vmId !== undefined, silent: true },
    ).data?.items ?? []
  const stopped = vm?.id === vmId && vm?.status === 'stopped'
  return (
    <>
      <Field name="vm_id" label={t('field.vm')} missing={t('field.vmRequired')}>
        <VmChoice cloudId={cloudId} any onChange={() => form.setFieldsValue({ snapshot_id: '' })} />
      </Field>
      {vmId !== undefined && (
        <Form.Item
          name="snapshot_id"
          label={t('field.content')}
          {...(!stopped && { extra: t('field.vmRuns') })}
          dependencies={['vm_id']}
          rules={[refusing((chosen: string) => chosen === '' && !stopped && t('field.stopFirst'))]}
        >
          <Select
            options={[
              { value: '', label: t(stopped ? 'field.nowStopped' : 'field.now'), disabled: !stopped },
              ...kept.map(({ id, name, created_at }) => ({ value: id, label: t('field.snapshotOption', { name, at: format.dateTime(created_at) }) })),
            ]}
          />
        </Form.Item>
      )}
    </>
  )
}

/** What keeping it costs: an image is billed by its file, which is known beforehand only where there is one. */
export function ImagePrice({ way }: { readonly way: ImageValues['way'] }) {
  const form = Form.useFormInstance<ImageValues>()
  const [file, vmId] = [Form.useWatch('file', form), Form.useWatch('vm_id', form)]
  const vm = useCall(vms.get, { params: { id: vmId ?? '' } }, { enabled: way === 'vm' && vmId !== undefined, silent: true }).data
  const bytes = { upload: file?.size, url: undefined, vm: vm?.disk_bytes }[way]
  return <StoragePrice meter="image.size" bytes={bytes ?? null} exact={way === 'upload'} />
}
