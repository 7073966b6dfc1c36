import { receiverKinds, receivers, type Receiver, type ReceiverKind } from '@zhisuan/contract/omc/alarm'
import Form from 'antd/es/form'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { PasswordField, RadioField, SwitchField, TextField } from '../../kit/fields.tsx'
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
  limited: boolean
  days: number[]
  from: string
  to: string
  critical_anyway: boolean
}
const { shape } = receivers.create.body
const hours = shape.hours.unwrap().unwrap().shape
/** As the call counts them, from 1. */
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
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
  const limited = Form.useWatch('limited', form) ?? (receiver !== null && receiver.hours !== null)
  const submit = async ({ name, addresses, url = '', secret = '', limited: isLimited, days, from, to, critical_anyway }: Values): Promise<string> => {
    const body = {
      name,
      kind,
      hours: isLimited ? { days, from, to, critical_anyway } : null,
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
        limited: receiver !== null && receiver.hours !== null,
        days: receiver?.hours?.days ?? [1, 2, 3, 4, 5],
        from: receiver?.hours?.from ?? '09:00',
        to: receiver?.hours?.to ?? '18:00',
        critical_anyway: receiver?.hours?.critical_anyway ?? true,
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
      <SwitchField name="limited" label={t('receiver.hours')} extra={t('receiver.hoursNote')} />
      {limited && (
        <>
          <SelectField<number[]>
            name="days"
            label={t('receiver.days')}
            missing={t('receiver.daysMissing')}
            mode="multiple"
            options={weekdays.map((day, index) => ({ value: index + 1, label: t(`receiver.weekday.${day}`) }))}
          />
          <TextField name="from" label={t('receiver.from')} schema={hours.from} required placeholder="09:00" />
          <TextField name="to" label={t('receiver.to')} extra={t('receiver.toNote')} schema={hours.to} required placeholder="18:00" />
          <SwitchField name="critical_anyway" label={t('receiver.criticalAnyway')} />
        </>
      )}
    </FormDialog>
  )
}
