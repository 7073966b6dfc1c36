import { alertLogs, type AlertLog } from '@zhisuan/contract/omc/alarm'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { TextAreaField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedByProcess } from './alarmRules.ts'

const silences = [0, 30, 60, 240, 1_440, 10_080] as const
interface Values {
  note: string
  silence_minutes: number
}

/** Takes an episode up: who did, what they wrote, and for how long nobody is told of it. */
export default function ProcessDialog({ log, onClose }: Dialog<{ log: AlertLog }>) {
  const { t } = useTranslation('operations')
  const process = useChange(alertLogs.process, { invalidates: invalidatedByProcess, silent: true })
  return (
    <FormDialog<Values, unknown>
      title={t('alert.processTitle')}
      okText={t('alert.process')}
      initialValues={{ note: log.processed?.note ?? '', silence_minutes: 0 }}
      doneText={t('alert.processedDone')}
      onClose={onClose}
      onSubmit={(values: Values) => process.mutateAsync({ params: { id: log.id }, body: values })}
    >
      <p>{log.summary}</p>
      <TextAreaField name="note" label={t('alert.note')} schema={alertLogs.process.body.shape.note} rows={3} />
      <SelectField<number>
        name="silence_minutes"
        label={t('alert.silence')}
        extra={t('alert.silenceNote')}
        options={silences.map((minutes) => ({
          value: minutes,
          label:
            minutes === 0
              ? t('alert.noSilence')
              : minutes < 60
                ? t('range.minutes', { count: minutes })
                : minutes < 1_440
                  ? t('range.hours', { count: minutes / 60 })
                  : t('range.days', { count: minutes / 1_440 }),
        }))}
      />
    </FormDialog>
  )
}
