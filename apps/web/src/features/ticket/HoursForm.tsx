import Skeleton from 'antd/es/skeleton'
import { ticketHours, type ServiceHours } from '@zhisuan/contract/ticket/desk'
import { ticketPriorities } from '@zhisuan/contract/ticket/ticket'
import { notify } from '../../api/notify.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { useMayCall } from '../../session/user.ts'
import { daysOf, hoursValues } from './ticketTexts.ts'

const { shape } = ticketHours.update.body
const weekdays = [1, 2, 3, 4, 5, 6, 7] as const
type Values = ReturnType<typeof hoursValues>

/** When people are answered, and how soon. */
export function HoursForm() {
  const { data, error, refetch } = useCall(ticketHours.get, {}, { silent: true })
  if (error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton active paragraph={{ rows: 8 }} />
  return <HoursFields hours={data} />
}

function HoursFields({ hours }: { readonly hours: ServiceHours }) {
  const { t } = useTranslation('ticket')
  const update = useChange(ticketHours.update, { invalidates: [ticketHours.get], silent: true })
  const keeps = useMayCall(ticketHours.update)
  return (
    <FormPage<Values>
      initialValues={hoursValues(hours)}
      submitText={t('hours.save')}
      submitDisabled={!keeps}
      onSubmit={async ({ holidays, workdays, ...rest }) => {
        await update.mutateAsync({ body: { ...rest, holidays: daysOf(holidays), workdays: daysOf(workdays) } })
        notify('success', t('hours.saved'))
      }}
    >
      <div className="zs-two">
        <TextField name="from" label={t('hours.from')} extra={t('hours.clockNote')} schema={shape.from} />
        <TextField name="to" label={t('hours.to')} schema={shape.to} />
      </div>
      <SelectField<number[], (typeof weekdays)[number]>
        name="weekdays"
        label={t('hours.weekdays')}
        mode="multiple"
        schema={shape.weekdays}
        values={weekdays}
        labelOf={(one) => t(`hours.weekday.d${one}`)}
      />
      <div className="zs-two">
        <TextAreaField name="holidays" label={t('hours.holidays')} extra={t('hours.holidaysNote')} rows={6} code />
        <TextAreaField name="workdays" label={t('hours.workdays')} rows={6} code />
      </div>
      <h2 className="zs-heading">{t('hours.within')}</h2>
      {ticketPriorities.map((priority) => (
        <div key={priority} className="zs-two">
          <NumberField
            name={['within', priority, 'answer']}
            label={`${t(`priority.${priority}`)} · ${t('hours.answer')}`}
            schema={shape.within.shape[priority].shape.answer}
          />
          <NumberField
            name={['within', priority, 'solve']}
            label={`${t(`priority.${priority}`)} · ${t('hours.solve')}`}
            schema={shape.within.shape[priority].shape.solve}
          />
        </div>
      ))}
    </FormPage>
  )
}
