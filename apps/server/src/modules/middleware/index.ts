import { serviceGateways, servicePorts } from '@zhisuan/contract/middleware/gateway'
import { createHistory } from '../../platform/history.ts'
import { handle } from '../../platform/http/handler.ts'
import type { Kept, KeptNodes } from '../../platform/kept/kept.ts'
import { onNodes } from '../../platform/kept/kept.onNodes.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { createGatewayOperations } from './gateway/gateway.operations.ts'
import { createGatewayService } from './gateway/gateway.service.ts'
import { gatewayMigrations, updateGateway } from './gateway/gateway.store.ts'

/** Service gateways and their ports. Rows say what is wanted; the node of a gateway is made so, and asked. */
export function createMiddleware(platform: Platform, { kept, nodes }: { kept: Kept; nodes: Pick<KeptNodes, 'connected' | 'reach'> }): ModuleParts {
  const { db, log } = platform
  const operations = createGatewayOperations({ kept })
  const gateways = createGatewayService(platform, { kept, operations, ...nodes })
  const history = createHistory(platform)
  kept.onChange(({ id, owner, status, reason }) => {
    if (owner.kind !== 'middleware.gateway') return
    const health = status === 'running' ? 'reachable' : status === 'starting' ? 'unknown' : status === 'unhealthy' ? 'degraded' : 'unreachable'
    updateGateway(db, id, { health, health_message: reason }).catch((error: unknown) => log.warn({ err: error, gateway: id }, 'health of a service gateway'))
  })
  return {
    migrations: gatewayMigrations,
    kinds: { 'middleware.gateway': { table: 'service_gateways' }, 'middleware.port': { table: 'service_ports' } },
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
    ],
    operations: Object.values(operations),
    contentsOfNode: onNodes('service_gateways'),
  }
}
