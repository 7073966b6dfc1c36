import type { Call } from '@zhisuan/contract/define'
import { integrations, prometheus, type Integration, type IntegrationStatus, type PrometheusSettings } from '@zhisuan/contract/omc/monitor'
import type { TFunction } from 'i18next'
import type { OperationTexts } from '../../kit/OperationTable.tsx'
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

const kinds = ['integration.create', 'integration.reinstall', 'integration.uninstall', 'prometheus.update', 'alarm.apply'] as const
const steps = ['preflight', 'place', 'start', 'switch', 'healthy', 'uninstall', 'reach', 'loaded'] as const

/** What people call what is done to a component, and the steps of it. */
export const operationTexts = (t: TFunction<'operations'>): OperationTexts => ({
  what: (kind) => {
    const known = kinds.find((one) => kind === `omc.${one}`)
    return known === undefined ? kind : t(`component.operation.${known}`)
  },
  step: (_kind, step) => {
    const known = steps.find((one) => one === step)
    return known === undefined ? step : t(`component.step.${known}`)
  },
})
