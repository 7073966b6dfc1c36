import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Typography from 'antd/es/typography'
import { signTypes } from '@zhisuan/contract/bill/topup'
import type { BodyInput } from '@zhisuan/contract/define'
import { splitChannel, type ChannelState, type PayoutChannel, type WaitingChannel } from '@zhisuan/contract/split/payout'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { useAskedPassword } from '../../kit/CurrentPassword.tsx'
import { CheckField, Field, RadioField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import './split.css'

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
    <FormDialog<Values, ChannelState>
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
      doneText={({ waiting }) => t(waiting === null ? 'channel.saved' : 'channel.asked')}
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
      <p className="zs-soft">{t('channel.twoNote')}</p>
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

/** What another person asked for, to be agreed with by who did not. */
export function ChannelApproveDialog({ waiting, present, onClose }: Dialog<{ waiting: WaitingChannel; present: PayoutChannel | null }>) {
  const { t } = useTranslation('split')
  const approve = useChange(splitChannel.approve, { invalidates: [splitChannel.get], silent: true })
  const { asking, passwordField } = useAskedPassword()
  return (
    <FormDialog<{ password?: string }>
      title={t('channel.approve')}
      okText={t('channel.approve')}
      initialValues={{}}
      doneText={t('channel.approved')}
      onClose={onClose}
      onSubmit={(body) => asking(() => approve.mutateAsync({ params: { id: waiting.id }, body }))}
    >
      <p>{t('channel.approveBody', { by: waiting.asked_by })}</p>
      <dl className="sp-moves">
        {(
          [
            ['gateway', present?.gateway, waiting.gateway],
            ['merchant', present?.merchant_id, waiting.merchant_id],
            ['signType', present?.sign_type, waiting.sign_type],
          ] as const
        ).map(([key, before, after]) => (
          <div key={key}>
            <dt>{t(`channel.${key}`)}</dt>
            <dd className="zs-code">{before === undefined || before === after ? after : `${before} → ${after}`}</dd>
          </div>
        ))}
      </dl>
      {passwordField}
    </FormDialog>
  )
}
