import { receiverKinds, receivers, type Receiver, type ReceiverKind } from '@zhisuan/contract/omc/alarm'
import Form from 'antd/es/form'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { PasswordField, RadioField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { NameField } from '../../kit/NameFields.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedByReceiver } from './alarmRules.ts'

interface Values {
  name: string
  kind: ReceiverKind
  addresses: string[]
  url: string
  secret: string
}
const { shape } = receivers.create.body
const places: Readonly<Record<Exclude<ReceiverKind, 'mail'>, string>> = {
  webhook: 'https://example.com/alarms',
  wecom: 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…',
  dingtalk: 'https://oapi.dingtalk.com/robot/send?access_token=…',
  feishu: 'https://open.feishu.cn/open-apis/bot/v2/hook/…',
}

/** Adds somebody who is told, or with one changes how. */
export default function ReceiverDialog({ receiver, onClose }: Dialog<{ receiver: Receiver | null }>) {
  const { t } = useTranslation('operations')
  const [form] = Form.useForm<Values>()
  const create = useChange(receivers.create, { invalidates: invalidatedByReceiver, silent: true })
  const update = useChange(receivers.update, { invalidates: invalidatedByReceiver, silent: true })
  const kind = Form.useWatch('kind', form) ?? receiver?.kind ?? 'mail'
  const submit = async ({ name, addresses, url = '', secret = '' }: Values): Promise<string> => {
    const body = {
      name,
      kind,
      ...(kind === 'mail' ? { addresses } : { ...(url !== '' && { url }), ...(secret !== '' && { secret }) }),
    }
    if (receiver === null) await create.mutateAsync({ body })
    else await update.mutateAsync({ params: { id: receiver.id }, body })
    return name
  }
  return (
    <FormDialog<Values, string>
      form={form}
      title={receiver === null ? t('receiver.create') : t('receiver.editTitle', { name: receiver.name })}
      okText={t('settings.save')}
      initialValues={{
        name: receiver?.name ?? '',
        kind: receiver?.kind ?? 'mail',
        addresses: receiver?.kind === 'mail' ? receiver.target.split('、') : [],
        url: '',
        secret: '',
      }}
      doneText={(name) => t('settings.saved', { name })}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <RadioField
        name="kind"
        label={t('receiver.kind')}
        optionType="button"
        disabled={receiver !== null}
        values={receiverKinds}
        labelOf={(one) => t(`receiver.kinds.${one}`)}
      />
      {kind === 'mail' ? (
        <SelectField<string[]>
          name="addresses"
          label={t('receiver.addresses')}
          extra={t('receiver.addressesNote')}
          missing={t('receiver.addressesMissing')}
          mode="tags"
          open={false}
          suffixIcon={null}
          tokenSeparators={[',', '，', ';', ' ']}
          placeholder="ops@example.com"
        />
      ) : (
        <>
          <TextField
            name="url"
            label={t('receiver.url')}
            extra={receiver === null ? t(`receiver.urlNote.${kind}`) : t('receiver.urlKept', { target: receiver.target })}
            schema={shape.url}
            required={receiver === null}
            code
            placeholder={places[kind]}
          />
          {kind !== 'wecom' && (
            <PasswordField
              name="secret"
              label={t('receiver.secret')}
              extra={t(`receiver.secretNote.${kind}`)}
              {...(receiver?.has_secret === true && { placeholder: t('receiver.secretKept') })}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
