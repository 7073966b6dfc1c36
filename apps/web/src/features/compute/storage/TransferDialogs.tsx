import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Modal from 'antd/es/modal'
import { computeVolumeTransfers } from '@zhisuan/contract/compute/volume'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { copyText } from '../../../kit/copy.ts'
import { useReturnFocus } from '../../../kit/focus.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { NameField } from '../../../kit/NameFields.tsx'
import { rulesOf, showFieldErrors } from '../../../kit/rules.ts'
import { errorText } from '../../../api/toasts.ts'
import { nameAt } from '../../../kit/nameAt.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { titleOf, touchedByStorage } from './storageRules.ts'
import type { OfVolume } from './VolumeDialogs.tsx'

type Offer = ResponseOf<typeof computeVolumeTransfers.create>

/** Offers a volume, and shows the key, which nobody is told a second time. */
export function TransferDialog({ cloudId, volume, onClose }: OfVolume) {
  const { t } = useTranslation('computeStorage')
  useReturnFocus()
  const [form] = Form.useForm<{ name: string }>()
  const [offer, setOffer] = useState<Offer | null>(null)
  const [refused, setRefused] = useState<string | null>(null)
  const create = useChange(computeVolumeTransfers.create, { invalidates: touchedByStorage, silent: true })
  const submit = async ({ name }: { name: string }): Promise<void> => {
    setRefused(null)
    try {
      setOffer(await create.mutateAsync({ params: { cloud_id: cloudId }, body: { volume_id: volume.id, name } }))
    } catch (thrown) {
      const error = toApiError(thrown)
      if (showFieldErrors(form, error.fields).length > 0 || error.fields.length === 0) setRefused(errorText(error))
    }
  }
  if (offer !== null) return <KeyDialog offer={offer} onClose={onClose} />
  return (
    <Modal
      open
      title={t('transfer.create', { name: titleOf(volume) })}
      okText={t('transfer.ok')}
      confirmLoading={create.isPending}
      onOk={form.submit}
      onCancel={onClose}
      mask={{ closable: false }}
    >
      <Form form={form} layout="vertical" initialValues={{ name: nameAt('transfer', new Date()) }} onFinish={submit}>
        {refused !== null && <Alert type="error" showIcon className="zs-form-alert" title={refused} />}
        <Alert className="zs-form-alert" type="warning" showIcon title={t('transfer.createNote')} />
        <NameField schema={computeVolumeTransfers.create.body.shape.name} />
      </Form>
    </Modal>
  )
}

function KeyDialog({ offer, onClose }: { readonly offer: Offer; readonly onClose: () => void }) {
  const { t } = useTranslation('computeStorage')
  return (
    <Modal
      open
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      title={t('transfer.keyTitle')}
      footer={<Button onClick={onClose}>{t('transfer.close')}</Button>}
    >
      <Alert type="warning" showIcon title={t('transfer.keyOnce')} />
      <dl className="co-key">
        <dt>{t('transfer.id')}</dt>
        <dd className="zs-code">{offer.id}</dd>
        <dt>{t('transfer.key')}</dt>
        <dd className="zs-code">{offer.auth_key}</dd>
      </dl>
      <Button type="primary" autoFocus onClick={() => void copyText(t('transfer.copied', { id: offer.id, key: offer.auth_key }))}>
        {t('transfer.copyAll')}
      </Button>
    </Modal>
  )
}

/** Takes a volume that somebody else offers. */
export function AcceptDialog({ cloudId, onClose }: { readonly cloudId: string; readonly onClose: () => void }) {
  const { t } = useTranslation('computeStorage')
  const accept = useChange(computeVolumeTransfers.accept, { invalidates: touchedByStorage, silent: true })
  return (
    <FormDialog<{ id: string; auth_key: string; project_id?: string }>
      title={t('transfer.accept')}
      okText={t('transfer.accept')}
      initialValues={{}}
      doneText={t('done.accept')}
      onClose={onClose}
      onSubmit={({ id, auth_key, project_id }) =>
        accept.mutateAsync({ params: { cloud_id: cloudId, id: id.trim() }, body: { auth_key, project_id: project_id ?? null } })
      }
    >
      <Alert className="zs-form-alert" type="info" showIcon title={t('transfer.acceptNote')} />
      <Form.Item
        name="id"
        label={t('transfer.id')}
        required
        rules={[
          { required: true, whitespace: true, message: t('transfer.idFormat') },
          { pattern: /^\s*[\w.:-]{1,255}\s*$/, message: t('transfer.idFormat') },
        ]}
      >
        <Input autoFocus autoComplete="off" />
      </Form.Item>
      <Form.Item name="auth_key" label={t('transfer.key')} required rules={rulesOf(computeVolumeTransfers.accept.body.shape.auth_key)}>
        <Input.Password autoComplete="off" />
      </Form.Item>
      <ProjectField />
    </FormDialog>
  )
}
