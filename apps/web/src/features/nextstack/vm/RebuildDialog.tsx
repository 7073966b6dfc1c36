import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { AccessFields } from './AccessFields.tsx'
import { ImagePicker, useImages } from './ImagePicker.tsx'
import { type AccessValues, accessOf } from './vmForm.ts'
import { invalidatedByVm } from './vmRules.ts'

interface Values extends AccessValues {
  image_fingerprint: string
  typed: string
}

/** A fresh copy of an image in the place of all that is on the root disk; so the name has to be typed. */
export function RebuildDialog({ vm, onClose }: Dialog<{ vm: Vm }>) {
  const { t } = useTranslation('nextstack')
  const [form] = Form.useForm<Values>()
  const fingerprint = Form.useWatch('image_fingerprint', form)
  const typed = Form.useWatch('typed', form)
  const image = useImages(vm.cloud_id, vm.type).data?.items.find((one) => one.fingerprint === fingerprint)
  const rebuild = useChange(vms.rebuild, { invalidates: invalidatedByVm })

  return (
    <FormDialog<Values>
      form={form}
      width={720}
      title={t('rebuild.title', { name: vm.name })}
      okText={t('rebuild.ok')}
      danger
      okDisabled={typed?.trim() !== vm.name || image === undefined}
      initialValues={{ image_fingerprint: vm.image.fingerprint }}
      doneText={t('done.rebuild', { name: vm.name })}
      onClose={onClose}
      onSubmit={(values) =>
        rebuild.mutateAsync({ params: { id: vm.id }, body: { image_fingerprint: values.image_fingerprint, ...accessOf(values, image?.cloud_init ?? false) } })
      }
    >
      <Alert type="warning" showIcon title={t('rebuild.warning')} className="zs-above" />
      <Form.Item name="image_fingerprint" label={t('rebuild.image')} required>
        <ImagePicker cloudId={vm.cloud_id} type={vm.type} />
      </Form.Item>
      <h2 className="zs-heading">{t('rebuild.access')}</h2>
      <p className="zs-soft">{t('rebuild.accessNote')}</p>
      <AccessFields cloudInit={image?.cloud_init ?? null} />
      <TextField
        name="typed"
        label={
          <>
            {t('rebuild.type')}
            <strong>{vm.name}</strong>
          </>
        }
      />
    </FormDialog>
  )
}
