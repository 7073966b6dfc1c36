import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Typography from 'antd/es/typography'
import { signTypes } from '@zhisuan/contract/bill/topup'
import type { BodyInput } from '@zhisuan/contract/define'
import { splitChannel, type PayoutChannel } from '@zhisuan/contract/split/payout'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import { CheckField, Field, RadioField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'

type Values = BodyInput<typeof splitChannel.set>

/** Sets up the channel that payouts go through. */
export default function ChannelDialog({ channel, onClose }: Dialog<{ channel: PayoutChannel | null }>) {
  const { t } = useTranslation('split')
  const set = useChange(splitChannel.set, { invalidates: [splitChannel.get], silent: true })
  const [form] = Form.useForm<Values>()
  const rsa = Form.useWatch('sign_type', form) === 'RSA-SHA256'
  const { asking, passwordField } = useAskedPassword()
  const { shape } = splitChannel.set.body
  return (
    <FormDialog<Values>
      form={form}
      width={640}
      title={t('channel.title')}
      okText={t('channel.save')}
      initialValues={
        channel === null
          ? { enabled: true, sign_type: 'RSA-SHA256', gateway: '', merchant_id: '', gateway_public_key: '' }
          : {
              enabled: channel.enabled,
              gateway: channel.gateway,
              merchant_id: channel.merchant_id,
              sign_type: channel.sign_type,
              gateway_public_key: channel.gateway_public_key,
            }
      }
      doneText={t('channel.saved')}
      onClose={onClose}
      onSubmit={({ key, ...body }) => asking(() => set.mutateAsync({ body: { ...body, ...(key !== undefined && key !== '' && { key }) } }))}
    >
      {channel !== null && (
        <Alert
          type={channel.notify_url === null ? 'warning' : 'info'}
          className="zs-above"
          title={t(channel.notify_url === null ? 'channel.noAddress' : 'channel.notify')}
          description={
            channel.notify_url !== null && (
              <Typography.Text copyable className="zs-code">
                {channel.notify_url}
              </Typography.Text>
            )
          }
        />
      )}
      <TextField name="gateway" label={t('channel.gateway')} extra={t('channel.gatewayNote')} schema={shape.gateway} code placeholder="https://" />
      <TextField name="merchant_id" label={t('channel.merchant')} schema={shape.merchant_id} />
      <RadioField name="sign_type" label={t('channel.signType')} required values={signTypes} />
      <Field name="key" label={t(rsa ? 'channel.privateKey' : 'channel.secret')} extra={channel === null ? undefined : t('channel.keyKept')} schema={shape.key}>
        {rsa ? <Input.TextArea rows={4} className="zs-code" autoComplete="off" spellCheck={false} /> : <Input.Password autoComplete="new-password" />}
      </Field>
      {rsa && <TextAreaField name="gateway_public_key" label={t('channel.publicKey')} schema={shape.gateway_public_key} required rows={4} code />}
      <CheckField name="enabled" text={t('channel.enable')} />
      {passwordField}
    </FormDialog>
  )
}
