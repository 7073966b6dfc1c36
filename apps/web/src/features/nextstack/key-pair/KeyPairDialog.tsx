import Form from 'antd/es/form'
import type { BodyInput, Call, ResponseOf } from '@zhisuan/contract/define'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { keyPairs, sshPublicKey, type KeyPair } from '@zhisuan/contract/nextstack/key-pair'
import { useTranslation } from '../../../i18n.ts'
import { RadioField, TextAreaField, TextField } from '../../../kit/fields.tsx'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { useChange } from '../../../api/hooks.ts'
import { refusing, rulesOf } from '../../../kit/rules.ts'
import { looksPrivate } from './keyFiles.ts'
import { PublicKeyInput } from './PublicKeyInput.tsx'
import '../compute.css'

/** What is no longer true after a key was made, changed or deleted. */
export const invalidatedByKeyPair: readonly Call[] = [keyPairs.list, keyPairs.get, quotas.mine]

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
  const create = useChange(keyPairs.create, { invalidates: invalidatedByKeyPair, silent: true })
  const update = useChange(keyPairs.update, { invalidates: invalidatedByKeyPair, silent: true })
  const submit = async ({ name, description, algorithm, public_key }: Values): Promise<string> => {
    if (kind === 'edit') {
      await update.mutateAsync({ params: { id: keyPair?.id ?? '' }, body: { name, description } })
      return t('keyPair.done.edit')
    }
    const body: BodyInput<typeof keyPairs.create> =
      kind === 'import' ? { name, description, public_key: public_key ?? '' } : { name, description, ...(algorithm !== undefined && { algorithm }) }
    onMade?.(await create.mutateAsync({ body }))
    return t('keyPair.done.import', { name })
  }

  const okText = { generate: t('keyPair.submitGenerate'), import: t('keyPair.submitImport'), edit: t('form.save') }[kind]
  const title = { generate: t('keyPair.generate'), import: t('keyPair.import'), edit: t('keyPair.edit', { name: keyPair?.name ?? '' }) }[kind]
  return (
    <FormDialog<Values, string>
      title={title}
      okText={okText}
      width={560}
      initialValues={{ name: keyPair?.name ?? '', description: keyPair?.description ?? '', algorithm: 'ssh-ed25519' }}
      // What was generated is shown next, and that says it.
      {...(kind !== 'generate' && { doneText: (done: string) => done })}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField name="name" label={t('keyPair.field.name')} extra={t('keyPair.nameNote')} schema={shape.name} autoFocus />
      {kind === 'generate' && (
        <RadioField
          name="algorithm"
          label={t('keyPair.field.algorithm')}
          className="nc-radios"
          values={['ssh-ed25519', 'ssh-rsa'] as const}
          labelOf={(value) => (
            <>
              {t(`keyPair.algorithm.${algorithms[value]}`)} <span className="zs-soft">{t(`keyPair.algorithmNote.${algorithms[value]}`)}</span>
            </>
          )}
        />
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
            { validateTrigger: ['onBlur', 'onChange'], ...refusing((text: string | undefined) => looksPrivate(text ?? '') && t('keyPair.looksPrivate')) },
            ...rulesOf(sshPublicKey),
          ]}
          validateFirst
        >
          <PublicKeyInput />
        </Form.Item>
      )}
      <TextAreaField name="description" label={t('keyPair.field.description')} schema={shape.description} rows={2} showCount />
    </FormDialog>
  )
}
