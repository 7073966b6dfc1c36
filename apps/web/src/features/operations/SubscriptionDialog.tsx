import { receivers, severities } from '@zhisuan/contract/omc/alarm'
import { eventSubscriptions, type EventSubscription } from '@zhisuan/contract/omc/event'
import { eventTypes } from '@zhisuan/contract/omc/log'
import { kindTexts, kindText } from '@zhisuan/contract/kindTexts'
import type { Kind } from '@zhisuan/contract/kind'
import Form from 'antd/es/form'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { serviceText } from '../../kit/actionText.ts'
import { SwitchField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { NameField } from '../../kit/NameFields.tsx'
import { SelectField } from '../../kit/SelectField.tsx'

type Values = Pick<EventSubscription, 'name' | 'types' | 'families' | 'kinds' | 'severities' | 'enabled'> & { receiver_ids: string[] }
const { shape } = eventSubscriptions.create.body

const families = Object.keys(kindTexts)
// Each is a family and a kind of it, as the type says.
const kinds = Object.entries(kindTexts).flatMap(([family, of]) => Object.keys(of).map((one) => `${family}.${one}` as Kind))

/** Has receivers told of events; with a subscription changes it. */
export default function SubscriptionDialog({ subscription, onClose }: Dialog<{ subscription: EventSubscription | null }>) {
  const { t } = useTranslation('operations')
  const [form] = Form.useForm<Values>()
  const create = useChange(eventSubscriptions.create, { invalidates: [eventSubscriptions.list], silent: true })
  const update = useChange(eventSubscriptions.update, { invalidates: [eventSubscriptions.list], silent: true })
  const { data, isPending } = useCall(receivers.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const own = (data?.items ?? []).filter(({ bp_id }) => subscription === null || bp_id === subscription.bp_id)
  const submit = async (body: Values): Promise<string> => {
    if (subscription === null) await create.mutateAsync({ body })
    else await update.mutateAsync({ params: { id: subscription.id }, body })
    return body.name
  }
  const many = { mode: 'multiple', allowClear: true, placeholder: t('window.everything') } as const
  return (
    <FormDialog<Values, string>
      form={form}
      title={subscription === null ? t('subscription.create') : t('window.editTitle', { name: subscription.name })}
      okText={t('settings.save')}
      initialValues={{
        name: subscription?.name ?? '',
        receiver_ids: subscription?.receivers.map(({ id }) => id) ?? [],
        types: subscription?.types ?? [],
        families: subscription?.families ?? [],
        kinds: subscription?.kinds ?? [],
        severities: subscription?.severities ?? [],
        enabled: subscription?.enabled ?? true,
      }}
      doneText={(name) => t('settings.saved', { name })}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <SelectField<string[]>
        name="receiver_ids"
        label={t('subscription.receivers')}
        mode="multiple"
        required
        missing={t('subscription.receiversMissing')}
        loading={isPending}
        notFoundContent={t('receiver.empty')}
        showSearch={{ optionFilterProp: 'label' }}
        options={own.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <SelectField<string[]>
        name="types"
        label={t('event.type')}
        {...many}
        options={eventTypes.map((one) => ({ value: one, label: t(`event.types.${one}`) }))}
      />
      <SelectField<string[]>
        name="families"
        label={t('subscription.families')}
        {...many}
        showSearch={{ optionFilterProp: 'label' }}
        options={families.map((one) => ({ value: one, label: serviceText(one) }))}
      />
      <SelectField<string[]>
        name="kinds"
        label={t('subscription.kinds')}
        extra={t('subscription.kindsNote')}
        {...many}
        showSearch={{ optionFilterProp: 'label' }}
        options={kinds.map((one) => ({ value: one, label: `${serviceText(one.split('.')[0] ?? '')} · ${kindText(one)}` }))}
      />
      <SelectField<string[]>
        name="severities"
        label={t('alarm.severity')}
        {...many}
        options={severities.map((one) => ({ value: one, label: t(`alarm.severities.${one}`) }))}
      />
      <SwitchField name="enabled" label={t('subscription.on')} extra={t('subscription.rightsNote')} />
    </FormDialog>
  )
}
