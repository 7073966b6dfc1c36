import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { createVmBody } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { Field } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { field } from '../../../kit/rules.ts'
import { KeyPairSelect } from '../key-pair/KeyPairSelect.tsx'
import '../../../kit/form.css'

const shape = createVmBody.shape

/** @param cloudInit whether the image reads user data; null while no image is chosen */
export function AccessFields({ cloudInit }: { readonly cloudInit: boolean | null }) {
  const { t } = useTranslation('nextstack')
  const data: string = Form.useWatch('user_data') ?? ''
  return (
    <>
      <Field name="password" label={t('field.password')} extra={t('add.passwordNote')} validateTrigger="onBlur" schema={shape.password}>
        <Input.Password autoComplete="new-password" className="zs-field" />
      </Field>
      <Field name="ssh_public_key" label={t('field.sshKey')} extra={t('add.sshKeyNote')} validateTrigger="onBlur" schema={shape.ssh_public_key}>
        <Input.TextArea rows={3} spellCheck={false} placeholder="ssh-ed25519 AAAA…" className="zs-code zs-field" />
      </Field>
      <Form.Item name="key_pair_ids" label={t('field.keyPairs')} extra={t('add.keyPairsNote')}>
        <KeyPairSelect />
      </Form.Item>
      {/* Kept while another image is tried: what was typed must not be lost. */}
      <Form.Item
        name="user_data"
        label={t('field.userData')}
        extra={cloudInit === false ? t('add.userDataOff') : `${t('add.userDataNote')} ${t('add.userDataUsed', { used: format.bytes(new Blob([data]).size) })}`}
        validateTrigger="onBlur"
        {...(cloudInit === false ? { required: false } : field(shape.user_data))}
      >
        <Input.TextArea
          rows={6}
          spellCheck={false}
          disabled={cloudInit === false}
          placeholder={'#cloud-config\npackages:\n  - nginx'}
          className="zs-code zs-field"
        />
      </Form.Item>
    </>
  )
}
