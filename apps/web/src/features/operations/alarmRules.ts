import {
  alarmMetrics,
  alarms,
  alarmWindows,
  alertLogs,
  receivers,
  type Alarm,
  type AlarmRule,
  type AlarmWindow,
  type Severity,
} from '@zhisuan/contract/omc/alarm'
import type { Call } from '@zhisuan/contract/define'
import type { TFunction } from 'i18next'
import type { StatusTone } from '../../kit/StatusTag.tsx'

export const severityTones: Readonly<Record<Severity, StatusTone>> = { critical: 'bad', warning: 'warning', info: 'busy' }
export const ruleTones: Readonly<Record<Alarm['rule_state'], StatusTone>> = { waiting: 'busy', loaded: 'good', refused: 'bad', none: 'rest' }
export const deliveryTones = { waiting: 'busy', sent: 'good', failed: 'bad' } as const

export const windowTones: Readonly<Record<AlarmWindow['status'], StatusTone>> = { planned: 'rest', lasting: 'warning', over: 'rest' }

/** What is no longer true after anything was done to an alarm, or to who is told. */
export const invalidatedByAlarm: readonly Call[] = [alarms.list, alarms.get, alarms.groups, alertLogs.list, alertLogs.counts]
export const invalidatedByReceiver: readonly Call[] = [receivers.list, receivers.deliveries, alarms.list, alarms.get]
export const invalidatedByProcess: readonly Call[] = [alertLogs.list, alertLogs.counts]

export const invalidatedByWindow: readonly Call[] = [alarmWindows.list, alertLogs.list]

/** What a rule watches, in a line: `CPU 使用率 > 90%`. */
export function ruleText(t: TFunction<'operations'>, rule: AlarmRule): string {
  if (rule.kind === 'promql') return rule.query
  const { unit, fixed } = alarmMetrics[rule.metric]
  const name = t(`alarm.metrics.${rule.metric}`)
  return fixed ? name : `${name} ${rule.comparison} ${rule.threshold}${unit}`
}
