import { serviceGateways, servicePorts, type GatewayStatus, type PortStatus, type ServiceGateway, type TargetState } from '@zhisuan/contract/middleware/gateway'
import type { Call } from '@zhisuan/contract/define'
import type { TFunction } from 'i18next'
import type { OperationTexts } from '../../kit/OperationTable.tsx'
import type { StatusTone } from '../../kit/StatusTag.tsx'

/** How each state looks; what it is called stands in the messages. */
export const gatewayTones: Readonly<Record<GatewayStatus, StatusTone>> = {
  installing: 'busy',
  active: 'good',
  changing: 'busy',
  removing: 'busy',
  error: 'bad',
}
export const healthTones: Readonly<Record<ServiceGateway['health'], StatusTone>> = {
  unknown: 'rest',
  reachable: 'good',
  degraded: 'warning',
  unreachable: 'bad',
}
export const portTones: Readonly<Record<PortStatus, StatusTone>> = { creating: 'busy', active: 'good', changing: 'busy', deleting: 'busy', error: 'bad' }
export const targetTones: Readonly<Record<TargetState['state'], StatusTone>> = {
  up: 'good',
  down: 'bad',
  starting: 'busy',
  drained: 'rest',
  unchecked: 'rest',
  unknown: 'rest',
}

export const isPassing = ({ status }: Pick<ServiceGateway, 'status'>): boolean => status === 'installing' || status === 'changing' || status === 'removing'

/** What is no longer true after anything was done to a gateway or a port of it. */
export const invalidatedByGateway: readonly Call[] = [serviceGateways.list, serviceGateways.overview, serviceGateways.get, servicePorts.list, servicePorts.get]

const kinds = ['gateway.create', 'gateway.update', 'gateway.delete', 'port.create', 'port.update', 'port.delete'] as const
const steps = ['preflight', 'place', 'start', 'switch', 'healthy', 'uninstall'] as const

/** What people call what is done to a gateway, and the steps of it. */
export const operationTexts = (t: TFunction<'middleware'>): OperationTexts => ({
  what: (kind) => {
    const known = kinds.find((one) => kind === `middleware.${one}`)
    return known === undefined ? kind : t(`operation.${known}`)
  },
  step: (_kind, step) => {
    const known = steps.find((one) => one === step)
    return known === undefined ? step : t(`step.${known}`)
  },
})
