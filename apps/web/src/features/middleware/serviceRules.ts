import {
  databaseServices,
  serviceAccounts,
  serviceDatabases,
  serviceDeployment,
  type DatabaseService,
  type ServiceStatus,
  type ServiceType,
} from '@zhisuan/contract/middleware/service'
import type { Call } from '@zhisuan/contract/define'
import type { TFunction } from 'i18next'
import type { OperationTexts } from '../../kit/OperationTable.tsx'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'

/** How each state looks; what it is called stands in the messages. */
export const serviceTones: Readonly<Record<ServiceStatus, StatusTone>> = {
  installing: 'busy',
  active: 'good',
  stopped: 'rest',
  changing: 'busy',
  removing: 'busy',
  error: 'bad',
}
/** Names of products are the same in every language; MariaDB is said to be what it is. */
export const typeNames: Readonly<Record<ServiceType, string>> = { mysql: 'MySQL', postgresql: 'PostgreSQL', redis: 'Redis' }
export const programNames: Readonly<Record<ServiceType, string>> = { mysql: 'MariaDB', postgresql: 'PostgreSQL', redis: 'Redis' }

export const isServicePassing = ({ status }: Pick<DatabaseService, 'status'>): boolean =>
  status === 'installing' || status === 'changing' || status === 'removing'

export const detailOf = ({ id, type }: Pick<DatabaseService, 'id' | 'type'>): string => paths.middleware.service.detail(id, type, serviceDeployment)

/** What is no longer true after anything was done to a service. */
export const invalidatedByService: readonly Call[] = [databaseServices.list, databaseServices.get, databaseServices.figures]
/** What is no longer true after its databases or accounts were changed. */
export const invalidatedByContent: readonly Call[] = [serviceDatabases.list, serviceAccounts.list, databaseServices.figures]

/** Where programs reach it: of a node the first of its addresses. */
export const hostOf = ({ listens, addresses }: Pick<DatabaseService, 'listens' | 'addresses'>): string =>
  (listens === 'loopback' ? undefined : addresses[0]) ?? '127.0.0.1'

/** What is typed to come in, by its own client and by programs; each asks for the password. */
export function connectionsOf(service: DatabaseService): { readonly key: 'client' | 'url'; readonly text: string }[] {
  const { type, port, username } = service
  const host = hostOf(service)
  const bracketed = host.includes(':') ? `[${host}]` : host
  const client = {
    mysql: `mysql -h ${host} -P ${port} -u ${username} -p`,
    postgresql: `psql -h ${host} -p ${port} -U ${username} -d postgres`,
    redis: `redis-cli -h ${host} -p ${port} --askpass`,
  }[type]
  const url = {
    mysql: `mysql://${username}@${bracketed}:${port}/`,
    postgresql: `postgresql://${username}@${bracketed}:${port}/postgres`,
    redis: `redis://${username}@${bracketed}:${port}/0`,
  }[type]
  return [
    { key: 'client', text: client },
    { key: 'url', text: url },
  ]
}

const kinds = ['create', 'update', 'start', 'stop', 'restart', 'password', 'delete'] as const
const steps = ['preflight', 'place', 'start', 'switch', 'healthy', 'stop', 'restart', 'password', 'uninstall'] as const

/** What people call what is done to a service, and the steps of it. */
export const serviceOperationTexts = (t: TFunction<'middleware'>): OperationTexts => ({
  what: (kind) => {
    const known = kinds.find((one) => kind === `middleware.service.${one}`)
    return known === undefined ? kind : t(`service.operation.${known}`)
  },
  step: (_kind, step) => {
    const known = steps.find((one) => one === step)
    return known === undefined ? step : t(`step.${known}`)
  },
})
