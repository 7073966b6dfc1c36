import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Modal from 'antd/es/modal'
import Radio from 'antd/es/radio'
import { constants } from '@zhisuan/contract/constants'
import type { BodyInput, ResponseOf } from '@zhisuan/contract/define'
import { keyPairs, sshPublicKey, type KeyPair } from '@zhisuan/contract/nextstack/key-pair'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { field, rulesOf, showFieldErrors } from '../../../kit/rules.ts'
import { looksPrivate } from './keyFiles.ts'
import { PublicKeyInput } from './PublicKeyInput.tsx'
import { touchedByKeyPair } from './useKeyPairActions.tsx'

export type MadeKeyPair = ResponseOf<typeof keyPairs.create>

interface Values {
  name: string
  description: string
  algorithm?: 'ssh-ed25519' | 'ssh-rsa'
  public_key?: string
}
const { shape } = keyPairs.create.body
const algorithms = { 'ssh-ed25519': 'ed25519', 'ssh-rsa': 'rsa' } as const

/** Generates a key, imports a public one, or changes what one is called. */
export function KeyPairDialog({
  kind,
  keyPair,
  onClose,
  onMade,
}: {
  readonly kind: 'generate' | 'import' | 'edit'
  readonly keyPair: KeyPair | null
  readonly onClose: () => void
  /** With its private half, which has to be shown now. */
  readonly onMade?: (made: MadeKeyPair) => void
}) {
  const { t } = useTranslation('nextstackCompute')
  const [form] = Form.useForm<Values>()
  const [refused, setRefused] = useState<string | null>(null)
  const create = useChange(keyPairs.create, { invalidates: touchedByKeyPair, silent: true })
  const update = useChange(keyPairs.update, { invalidates: touchedByKeyPair, silent: true })
  const onError = (error: ApiError): void => {
    // What stands beside its field need not be said twice.
    const rest = showFieldErrors(form, error.fields)
    setRefused(error.fields.length > 0 && rest.length === 0 ? null : errorText(error))
  }

  const submit = ({ name, description, algorithm, public_key }: Values): void => {
    setRefused(null)
    if (kind === 'edit') {
      update.mutate({ params: { id: keyPair?.id ?? '' }, body: { name, description } }, { onError, onSuccess: () => done(t('keyPair.done.edit')) })
      return
    }
    const body: BodyInput<typeof keyPairs.create> =
      kind === 'import' ? { name, description, public_key: public_key ?? '' } : { name, description, ...(algorithm !== undefined && { algorithm }) }
    create.mutate(
      { body },
      {
        onError,
        onSuccess: (made) => {
          if (kind === 'import') done(t('keyPair.done.import', { name }))
          else onClose()
          onMade?.(made)
        },
      },
    )
  }
  const done = (text: string): void => {
    notify('success', text)
    onClose()
  }

  const okText = { generate: t('keyPair.submitGenerate'), import: t('keyPair.submitImport'), edit: t('form.save') }[kind]
  const title = { generate: t('keyPair.generate'), import: t('keyPair.import'), edit: t('keyPair.edit', { name: keyPair?.name ?? '' }) }[kind]
  return (
    <Modal
      open
      title={title}
      okText={okText}
      confirmLoading={create.isPending || update.isPending}
      onOk={form.submit}
      onCancel={onClose}
      mask={{ closable: false }}
      width={560}
    >
      <Form<Values>
        form={form}
        layout="vertical"
        initialValues={{ name: keyPair?.name ?? '', description: keyPair?.description ?? '', algorithm: 'ssh-ed25519' }}
        onFinish={submit}
      >
        <Form.Item name="name" label={t('keyPair.field.name')} extra={t('keyPair.nameNote')} {...field(shape.name)}>
          <Input autoFocus maxLength={constants.nameMaxLength} />
        </Form.Item>
        {kind === 'generate' && (
          <Form.Item name="algorithm" label={t('keyPair.field.algorithm')}>
            <Radio.Group
              className="nc-radios"
              options={(['ssh-ed25519', 'ssh-rsa'] as const).map((value) => ({
                value,
                label: (
                  <>
                    {t(`keyPair.algorithm.${algorithms[value]}`)} <span className="zs-soft">{t(`keyPair.algorithmNote.${algorithms[value]}`)}</span>
                  </>
                ),
              }))}
            />
          </Form.Item>
        )}
        {kind === 'import' && (
          <Form.Item
            name="public_key"
            label={t('keyPair.field.publicKey')}
            extra={t('keyPair.publicKeyNote')}
            required
            validateTrigger="onBlur"
            // A private key is told from a wrong one before anything else is said of it.
            rules={[
              {
                validateTrigger: ['onBlur', 'onChange'],
                validator: async (_rule, text: string | undefined) => {
                  if (looksPrivate(text ?? '')) throw new Error(t('keyPair.looksPrivate'))
                },
              },
              ...rulesOf(sshPublicKey),
            ]}
            validateFirst
          >
            <PublicKeyInput />
          </Form.Item>
        )}
        <Form.Item name="description" label={t('keyPair.field.description')} {...field(shape.description)}>
          <Input.TextArea rows={2} maxLength={255} showCount />
        </Form.Item>
        {refused !== null && <Alert type="error" showIcon title={t('form.refused', { reason: refused })} />}
      </Form>
    </Modal>
  )
}
