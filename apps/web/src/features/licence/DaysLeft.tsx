import Progress from 'antd/es/progress'
import { useTranslation } from 'react-i18next'
import * as format from '../../kit/format.ts'
import './allowance.css'
import type { LicenceState } from './licenceState.ts'

const timeColours = { valid: 'var(--brand)', ending: 'var(--warning)', expired: 'var(--bad)' } as const

/** How long the licence still counts, as a bar of its time and in words. */
export function DaysLeft({ state }: { readonly state: LicenceState }) {
  const { t } = useTranslation('licence')
  const left =
    state.kind === 'expired'
      ? state.days === 0
        ? t('expiredToday')
        : t('expiredDays', { count: state.days })
      : state.days <= 1
        ? t('lastDay')
        : t('days', { count: state.days })
  return (
    <div className="zs-allowance">
      <div className="zs-allowance-head">
        <span>{t('daysLeft')}</span>
        <strong className="zs-number">{left}</strong>
      </div>
      <Progress
        percent={state.elapsed * 100}
        showInfo={false}
        strokeColor={timeColours[state.kind]}
        aria-label={t('elapsed', { percent: format.percent(state.elapsed) })}
      />
    </div>
  )
}
