import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import Switch from 'antd/es/switch'
import type { PrepaidPeriod } from '@zhisuan/contract/bill/order'
import { useTranslation } from '../../i18n.ts'
import { LeastBalance } from './LeastBalance.tsx'
import './price.css'

/** How something is paid for: by the hour, or so many days, weeks, months or years in advance. */
export interface Billing {
  readonly mode: 'hour' | PrepaidPeriod
  readonly count: number
  readonly auto_renew: boolean
}
export const byHour: Billing = { mode: 'hour', count: 1, auto_renew: false }

const counts: Readonly<Record<PrepaidPeriod, readonly number[]>> = { day: [1, 2, 3, 4, 5, 6], week: [1, 2, 3], month: [1, 2, 3, 6, 9], year: [1, 2, 3] }
/** By what most things can be paid in advance. */
const usual: readonly PrepaidPeriod[] = ['month', 'year']

/** Chooses how a new resource is paid for. */
export function BillingMode({
  value,
  onChange,
  prepaidOnly = false,
  periods = usual,
}: {
  readonly value: Billing
  readonly onChange: (value: Billing) => void
  readonly prepaidOnly?: boolean
  readonly periods?: readonly PrepaidPeriod[]
}) {
  const { t } = useTranslation('price')
  const { mode } = value
  const modes = prepaidOnly ? periods : (['hour', ...periods] as const)
  return (
    <div>
      <div className="zs-price-mode">
        <Radio.Group
          aria-label={t('mode.label')}
          optionType="button"
          value={mode}
          options={modes.map((one) => ({ value: one, label: t(`mode.${one}`) }))}
          onChange={(event) => onChange({ ...value, mode: event.target.value as Billing['mode'], count: 1 })}
        />
        {mode !== 'hour' && (
          <>
            <Select
              aria-label={t('count')}
              value={value.count}
              popupMatchSelectWidth={false}
              options={counts[mode].map((count) => ({ value: count, label: t(`counts.${mode}`, { count }) }))}
              onChange={(count) => onChange({ ...value, count })}
            />
            {!prepaidOnly && (
              <label className="zs-labelled">
                <Switch checked={value.auto_renew} onChange={(auto_renew) => onChange({ ...value, auto_renew })} />
                {t('autoRenew')}
              </label>
            )}
          </>
        )}
      </div>
      <p className="zs-soft">{t(`modeNote.${mode}`)}</p>
      {mode === 'hour' && !prepaidOnly && <LeastBalance />}
    </div>
  )
}
