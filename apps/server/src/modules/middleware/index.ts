import { serviceGateways, servicePorts } from '@zhisuan/contract/middleware/gateway'
import { databaseServices, serviceAccounts, serviceDatabases } from '@zhisuan/contract/middleware/service'
import { createHistory } from '../../platform/history.ts'
import { handle } from '../../platform/http/handler.ts'
import type { Kept, KeptNodes, KeptProgram } from '../../platform/kept/kept.ts'
import { onNodes } from '../../platform/kept/kept.onNodes.ts'
import type { ModuleParts, NodeContents } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { createGatewayOperations } from './gateway/gateway.operations.ts'
import { createGatewayService } from './gateway/gateway.service.ts'
import { gatewayMigrations, updateGateway } from './gateway/gateway.store.ts'
import { createServiceOperations } from './service/service.operations.ts'
import { createServiceService, type Prove } from './service/service.service.ts'
import { serviceMigrations, updateService } from './service/service.store.ts'

/** How what the agent sees of a program is said of what it serves. */
const healthOf = (status: KeptProgram['status']) =>
  status === 'running' ? 'reachable' : status === 'starting' || status === 'stopped' ? 'unknown' : status === 'unhealthy' ? 'degraded' : 'unreachable'

/** Service gateways and their ports, databases and caches. Rows say what is wanted; nodes are made so, and asked. */
export function createMiddleware(
  platform: Platform,
  { kept, nodes, prove }: { kept: Kept; nodes: Pick<KeptNodes, 'connected' | 'reach' | 'work'>; prove: Prove },
): ModuleParts {
  const { db, log } = platform
  const gatewayOperations = createGatewayOperations({ kept })
  const gateways = createGatewayService(platform, { kept, operations: gatewayOperations, ...nodes })
  const serviceOperations = createServiceOperations(platform, { kept, reach: nodes.reach, work: nodes.work })
  const services = createServiceService(platform, { kept, operations: serviceOperations, prove, ...nodes })
  const history = createHistory(platform)
  kept.onChange(({ id, owner, status, reason }) => {
    const change = owner.kind === 'middleware.gateway' ? updateGateway : owner.kind === 'middleware.service' ? updateService : null
    change?.(db, id, { health: healthOf(status), health_message: reason }).catch((error: unknown) =>
      log.warn({ err: error, kind: owner.kind, id }, 'health of what is kept on a node'),
    )
  })
  return {
    migrations: { ...gatewayMigrations, ...serviceMigrations },
    kinds: {
      'middleware.gateway': { table: 'service_gateways' },
      'middleware.port': { table: 'service_ports' },
      'middleware.service': { table: 'database_services' },
    },
    handlers: [
      handle(serviceGateways.list, ({ query }) => gateways.list(query)),
      handle(serviceGateways.overview, async () => gateways.overview()),
      handle(serviceGateways.get, ({ params }) => gateways.get(params.id)),
      handle(serviceGateways.create, ({ actor, body }) => gateways.create(actor, body)),
      handle(serviceGateways.update, ({ actor, params, body }) => gateways.update(actor, params.id, body)),
      handle(serviceGateways.delete, ({ actor, params }) => gateways.remove(actor, params.id)),
      handle(serviceGateways.operations, async ({ params, query }) => {
        await gateways.get(params.id)
        return history.list(params.id, query)
      }),
      handle(serviceGateways.log, ({ params, query }) => gateways.log(params.id, query.lines)),
      handle(servicePorts.list, ({ query }) => gateways.listPorts(query)),
      handle(servicePorts.get, ({ params }) => gateways.getPort(params.id)),
      handle(servicePorts.create, ({ actor, body }) => gateways.createPort(actor, body)),
      handle(servicePorts.update, ({ actor, params, body }) => gateways.updatePort(actor, params.id, body)),
      handle(servicePorts.delete, ({ actor, params }) => gateways.removePort(actor, params.id)),
      handle(servicePorts.test, ({ params }) => gateways.test(params.id, params.sid)),
      handle(databaseServices.list, ({ query }) => services.list(query)),
      handle(databaseServices.get, ({ params }) => services.get(params.id)),
      handle(databaseServices.create, ({ actor, body }) => services.create(actor, body)),
      handle(databaseServices.update, ({ actor, params, body }) => services.update(actor, params.id, body)),
      handle(databaseServices.start, ({ actor, params }) => services.start(actor, params.id)),
      handle(databaseServices.stop, ({ actor, params }) => services.stop(actor, params.id)),
      handle(databaseServices.restart, ({ actor, params }) => services.restart(actor, params.id)),
      handle(databaseServices.password, ({ actor, params, body }) => services.password(actor, params.id, body)),
      handle(databaseServices.credential, ({ actor, params, body }) => services.credential(actor, params.id, body.password)),
      handle(databaseServices.figures, ({ params }) => services.figures(params.id)),
      handle(databaseServices.operations, async ({ params, query }) => {
        await services.get(params.id)
        return history.list(params.id, query)
      }),
      handle(databaseServices.log, ({ params, query }) => services.log(params.id, query.lines)),
      handle(databaseServices.delete, ({ actor, params }) => services.remove(actor, params.id)),
      handle(serviceDatabases.list, ({ params }) => services.databases(params.id)),
      handle(serviceDatabases.create, ({ params, body }) => services.createDatabase(params.id, body.name)),
      handle(serviceDatabases.delete, ({ params }) => services.dropDatabase(params.id, params.name)),
      handle(serviceAccounts.list, ({ params }) => services.accounts(params.id)),
      handle(serviceAccounts.create, ({ params, body }) => services.createAccount(params.id, body)),
      handle(serviceAccounts.delete, ({ params }) => services.dropAccount(params.id, params.name)),
    ],
    operations: [...Object.values(gatewayOperations), ...Object.values(serviceOperations)],
    contentsOfNode: together(onNodes('service_gateways'), onNodes('database_services')),
  }
}

/** What several tables have on nodes, as one. */
const together = (...parts: readonly NodeContents[]): NodeContents => ({
  async count(on, ids) {
    const all = new Map<string, number>()
    for (const part of parts) for (const [id, count] of await part.count(on, ids)) all.set(id, (all.get(id) ?? 0) + count)
    return all
  },
  owners: async (on, nodeId) => (await Promise.all(parts.map((part) => part.owners(on, nodeId)))).flat(),
})
