import Progress from 'antd/es/progress'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import './allowance.css'
import type { Allowance, LicenceState } from '../../kit/licenceState.ts'

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
    <div className="licence-allowance">
      <div className="zs-between">
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

const colours = { fine: 'var(--brand)', near: 'var(--warning)', full: 'var(--warning)', over: 'var(--bad)' } as const

/** What is used of what is allowed, as a bar and in words. */
export function AllowanceBar({ label, allowance }: { readonly label: string; readonly allowance: Allowance }) {
  const { t } = useTranslation('licence')
  const { used, allowed, share, level } = allowance
  const note = level === 'fine' ? null : t(`level.${level}`, { count: used - (allowed ?? used) })
  const words = allowed === null ? t('usedUnlimited', { used }) : t('used', { used, allowed })
  return (
    <div className="licence-allowance">
      <div className="zs-between">
        <span>{label}</span>
        <span className="zs-number">
          {note !== null && <span className={`licence-allowance-note licence-allowance-${level}`}>{note}</span>}
          <strong>{words}</strong>
        </span>
      </div>
      <Progress percent={share === null ? 0 : share * 100} showInfo={false} strokeColor={colours[level]} aria-label={`${label} ${words}`} />
    </div>
  )
}
