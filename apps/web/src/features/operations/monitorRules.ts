import type { Call } from '@zhisuan/contract/define'
import { integrations, prometheus, type Integration, type IntegrationStatus, type PrometheusSettings } from '@zhisuan/contract/omc/monitor'
import type { StatusTone } from '../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `component.status` in the messages. */
export const statusTones: Readonly<Record<IntegrationStatus, StatusTone>> = {
  installing: 'busy',
  active: 'good',
  changing: 'busy',
  removing: 'busy',
  error: 'bad',
}
export const healthTones: Readonly<Record<Integration['health'], StatusTone>> = {
  unknown: 'rest',
  reachable: 'good',
  degraded: 'warning',
  unreachable: 'bad',
  unauthorised: 'bad',
}

export const isPassing = ({ status }: Pick<Integration, 'status'>): boolean => status === 'installing' || status === 'changing' || status === 'removing'

/** What is no longer true after anything was done to a component. */
export const invalidatedByIntegration: readonly Call[] = [integrations.list, integrations.get, prometheus.list, prometheus.get]

/** Settings that suit most, by what is wanted of them. */
export const templates = {
  light: { scrape_interval_seconds: 60, retention_days: 15, retention_gb: 20 },
  standard: { scrape_interval_seconds: 15, retention_days: 30, retention_gb: null },
  long: { scrape_interval_seconds: 30, retention_days: 365, retention_gb: null },
} as const satisfies Readonly<Record<string, PrometheusSettings>>
export const templateNames = ['light', 'standard', 'long'] as const satisfies readonly (keyof typeof templates)[]
