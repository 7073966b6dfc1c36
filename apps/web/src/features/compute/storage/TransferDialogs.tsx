import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import { computeVolumeTransfers } from '@zhisuan/contract/compute/volume'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { copyText } from '../../../kit/copy.ts'
import { useDialog } from '../../../kit/dialogs.tsx'
import { PasswordField, TextField } from '../../../kit/fields.tsx'
import { useReturnFocus } from '../../../kit/focus.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { NameField } from '../../../kit/NameFields.tsx'
import { nameAt } from '../../../kit/nameAt.ts'
import { ProjectField } from '../tenancy/ProjectField.tsx'
import { titleOf, invalidatedByStorage } from './storageRules.ts'
import type { OfVolume } from './VolumeDialogs.tsx'
import './storage.css'

type Offer = ResponseOf<typeof computeVolumeTransfers.create>

/** Offers a volume, and shows the key, which nobody is told a second time. */
export function TransferDialog({ cloudId, volume, onClose }: OfVolume) {
  const { t } = useTranslation('computeStorage')
  const openDialog = useDialog()
  const create = useChange(computeVolumeTransfers.create, { invalidates: invalidatedByStorage, silent: true })
  return (
    <FormDialog<{ name: string }>
      title={t('transfer.create', { name: titleOf(volume) })}
      okText={t('transfer.ok')}
      initialValues={{ name: nameAt('transfer', new Date()) }}
      onClose={onClose}
      onSubmit={async ({ name }) => {
        const offer = await create.mutateAsync({ params: { cloud_id: cloudId }, body: { volume_id: volume.id, name } })
        openDialog((close) => <KeyDialog offer={offer} onClose={close} />)
      }}
    >
      <Alert className="zs-above" type="warning" showIcon title={t('transfer.createNote')} />
      <NameField schema={computeVolumeTransfers.create.body.shape.name} />
    </FormDialog>
  )
}

function KeyDialog({ offer, onClose }: Dialog<{ offer: Offer }>) {
  const { t } = useTranslation('computeStorage')
  useReturnFocus()
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
export function AcceptDialog({ cloudId, onClose }: Dialog<{ cloudId: string }>) {
  const { t } = useTranslation('computeStorage')
  const accept = useChange(computeVolumeTransfers.accept, { invalidates: invalidatedByStorage, silent: true })
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
      <Alert className="zs-above" type="info" showIcon title={t('transfer.acceptNote')} />
      <TextField
        name="id"
        label={t('transfer.id')}
        rules={[
          { required: true, whitespace: true, message: t('transfer.idFormat') },
          { pattern: /^\s*[\w.:-]{1,255}\s*$/, message: t('transfer.idFormat') },
        ]}
        required
        autoFocus
      />
      <PasswordField name="auth_key" label={t('transfer.key')} schema={computeVolumeTransfers.accept.body.shape.auth_key} autoComplete="off" />
      <ProjectField />
    </FormDialog>
  )
}
