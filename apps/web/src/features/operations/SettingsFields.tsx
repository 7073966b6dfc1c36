import { prometheusSettings } from '@zhisuan/contract/omc/monitor'
import { useTranslation } from '../../i18n.ts'
import { NumberField } from '../../kit/NumberField.tsx'

const { shape } = prometheusSettings

/** How a Prometheus works that the platform runs. */
export function SettingsFields() {
  const { t } = useTranslation('operations')
  return (
    <>
      <NumberField
        name={['settings', 'scrape_interval_seconds']}
        label={t('settings.interval')}
        extra={t('settings.intervalNote')}
        schema={shape.scrape_interval_seconds}
        required
      />
      <NumberField name={['settings', 'retention_days']} label={t('settings.days')} extra={t('settings.daysNote')} schema={shape.retention_days} required />
      <NumberField name={['settings', 'retention_gb']} label={t('settings.size')} extra={t('settings.sizeNote')} schema={shape.retention_gb} />
    </>
  )
}
