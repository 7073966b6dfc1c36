import { rentals, type Rental } from '@zhisuan/contract/market/rental'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { MoneyField } from '../../kit/fields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'

const { shape } = rentals.limit.body

/** Changes what a machine may cost in all before it is stopped. */
export default function LimitDialog({ rental, onClose }: Dialog<{ rental: Rental }>) {
  const { t } = useTranslation('market')
  const limit = useChange(rentals.limit, { invalidates: [rentals.list, rentals.get], silent: true })
  return (
    <FormDialog<{ spend_limit: string | null; idle_minutes: number | null }>
      title={t('limit.title', { name: rental.name })}
      okText={t('save')}
      initialValues={{ spend_limit: rental.spend_limit, idle_minutes: rental.idle_minutes }}
      doneText={t('saved', { name: rental.name })}
      onClose={onClose}
      onSubmit={({ spend_limit, idle_minutes }) =>
        limit.mutateAsync({
          params: { id: rental.id },
          body: { spend_limit: spend_limit === '' ? null : spend_limit, ends_at: rental.ends_at, idle_minutes },
        })
      }
    >
      <NumberField name="idle_minutes" label={t('field.idleMinutes')} extra={t('field.idleMinutesNote')} schema={shape.idle_minutes} required={false} />
      <MoneyField name="spend_limit" label={t('field.spendLimit')} extra={t('field.spendLimitNote')} schema={shape.spend_limit} required={false} />
    </FormDialog>
  )
}
