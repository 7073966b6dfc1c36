import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Typography from 'antd/es/typography'
import { paymentChannels, signTypes, type PaymentChannel, type PaymentChannelInput } from '@zhisuan/contract/bill/topup'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { CheckField, Field, RadioField, TextAreaField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { invalidatedByChannel } from './invalidated.ts'

/** Gateways for online payment; where transfers go is a setting of the platform. */
export function ChannelTable() {
  const { t } = useTranslation('fund')
  const remove = useChange(paymentChannels.delete, { invalidates: invalidatedByChannel })
  return (
    <>
      <Alert
        type="info"
        className="zs-above"
        title={t('channel.bank')}
        action={<Link to={withQuery(paths.platform.configuration.detail(), { key: 'remittance_account' })}>{t('channel.toBank')}</Link>}
      />
      <ResourceTable
        call={paymentChannels.list}
        name="channels"
        columns={[
          col.name<PaymentChannel>('name', t('channel.name'), ({ name }) => name, { width: 180 }),
          col.status<PaymentChannel>(
            'state',
            t('column.state'),
            ({ enabled }) => ({ tone: enabled ? 'good' : 'rest', text: t(enabled ? 'channel.on' : 'channel.off') }),
            { width: 100 },
          ),
          col.code<PaymentChannel>('gateway', t('channel.gateway'), ({ gateway }) => gateway, { width: 240 }),
          col.code<PaymentChannel>('merchant', t('channel.merchant'), ({ merchant_id }) => merchant_id, { width: 160 }),
          col.text<PaymentChannel>('sign', t('channel.signType'), ({ sign_type }) => sign_type, { width: 130 }),
          col.number<PaymentChannel>('topups', t('channel.topups'), ({ topup_count }) => topup_count, { width: 90 }),
        ]}
        rowActions={(channel) => [
          { key: 'edit', call: paymentChannels.update, label: t('action.edit'), dialog: (close) => <ChannelDialog channel={channel} onClose={close} /> },
          {
            key: 'delete',
            call: paymentChannels.delete,
            label: t('action.delete'),
            danger: true,
            disabledReason: channel.topup_count > 0 ? t('channel.used') : null,
            confirm: { title: t('channel.deleteTitle', { name: channel.name }), body: t('channel.deleteBody') },
            doneText: t('channel.deleted'),
            run: () => remove.mutateAsync({ params: { id: channel.id } }),
          },
        ]}
        create={{ call: paymentChannels.create, label: t('channel.add'), dialog: (close) => <ChannelDialog channel={null} onClose={close} /> }}
        empty={{ title: t('channel.empty'), note: t('channel.emptyNote') }}
      />
    </>
  )
}

function ChannelDialog({ channel, onClose }: Dialog<{ channel: PaymentChannel | null }>) {
  const { t } = useTranslation('fund')
  const create = useChange(paymentChannels.create, { invalidates: invalidatedByChannel, silent: true })
  const update = useChange(paymentChannels.update, { invalidates: invalidatedByChannel, silent: true })
  const [form] = Form.useForm<PaymentChannelInput>()
  const rsa = Form.useWatch('sign_type', form) === 'RSA-SHA256'
  const { shape } = paymentChannels.update.body
  const submit = ({ key, ...body }: PaymentChannelInput): Promise<unknown> =>
    channel === null
      ? create.mutateAsync({ body: { ...body, key: key ?? '' } })
      : update.mutateAsync({ params: { id: channel.id }, body: { ...body, ...(key !== undefined && key !== '' && { key }) } })
  return (
    <FormDialog<PaymentChannelInput>
      form={form}
      width={640}
      title={channel === null ? t('channel.add') : t('channel.edit', { name: channel.name })}
      okText={t('action.save')}
      initialValues={
        channel === null
          ? { enabled: true, sign_type: 'RSA-SHA256', gateway_public_key: '' }
          : {
              name: channel.name,
              enabled: channel.enabled,
              gateway: channel.gateway,
              merchant_id: channel.merchant_id,
              sign_type: channel.sign_type,
              gateway_public_key: channel.gateway_public_key,
            }
      }
      doneText={t('channel.saved')}
      onClose={onClose}
      onSubmit={submit}
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
      <TextField name="name" label={t('channel.name')} schema={shape.name} />
      <TextField name="gateway" label={t('channel.gateway')} extra={t('channel.gatewayNote')} schema={shape.gateway} code placeholder="https://" />
      <TextField name="merchant_id" label={t('channel.merchant')} schema={shape.merchant_id} />
      <RadioField name="sign_type" label={t('channel.signType')} required values={signTypes} />
      <Field
        name="key"
        label={t(rsa ? 'channel.privateKey' : 'channel.secret')}
        extra={channel === null ? undefined : t('channel.keyKept')}
        schema={channel === null ? paymentChannels.create.body.shape.key : shape.key}
      >
        {rsa ? <Input.TextArea rows={4} className="zs-code" autoComplete="off" spellCheck={false} /> : <Input.Password autoComplete="new-password" />}
      </Field>
      {rsa && <TextAreaField name="gateway_public_key" label={t('channel.publicKey')} schema={shape.gateway_public_key} required rows={4} code />}
      <CheckField name="enabled" text={t('channel.enable')} />
    </FormDialog>
  )
}
