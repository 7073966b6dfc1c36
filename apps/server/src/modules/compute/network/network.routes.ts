import { computeNetworks, computePorts, computeSubnets } from '@zhisuan/contract/compute/network'
import { computeRouters } from '@zhisuan/contract/compute/router'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { Networks } from './network.service.ts'
import type { Ports } from './port.service.ts'
import type { Routers } from './router.service.ts'
import type { Subnets } from './subnet.service.ts'

export const networkRoutes = ({ networks, subnets, ports, routers }: { networks: Networks; subnets: Subnets; ports: Ports; routers: Routers }): Handler[] => [
  handleLines(computeNetworks.list, ({ actor, params, request, signal }) => networks.list(actor, params.cloud_id, request.id, signal)),
  handle(computeNetworks.get, ({ actor, params }) => networks.get(actor, params.cloud_id, params.id)),
  handle(computeNetworks.create, ({ actor, params, body }) => networks.create(actor, params.cloud_id, body)),
  handle(computeNetworks.update, ({ actor, params, body }) => networks.update(actor, params.cloud_id, params.id, body)),
  handle(computeNetworks.delete, ({ actor, params }) => networks.delete(actor, params.cloud_id, params.id)),
  handleLines(computeSubnets.list, ({ actor, params, request, signal }) => subnets.list(actor, params.cloud_id, request.id, signal)),
  handle(computeSubnets.get, ({ actor, params }) => subnets.get(actor, params.cloud_id, params.id)),
  handle(computeSubnets.create, ({ actor, params, body }) => subnets.create(actor, params.cloud_id, body)),
  handle(computeSubnets.update, ({ actor, params, body }) => subnets.update(actor, params.cloud_id, params.id, body)),
  handle(computeSubnets.delete, ({ actor, params }) => subnets.delete(actor, params.cloud_id, params.id)),
  handleLines(computePorts.list, ({ actor, params, request, signal }) => ports.list(actor, params.cloud_id, request.id, signal)),
  handle(computePorts.get, ({ actor, params }) => ports.get(actor, params.cloud_id, params.id)),
  handle(computePorts.create, ({ actor, params, body }) => ports.create(actor, params.cloud_id, body)),
  handle(computePorts.update, ({ actor, params, body }) => ports.update(actor, params.cloud_id, params.id, body)),
  handle(computePorts.delete, ({ actor, params }) => ports.delete(actor, params.cloud_id, params.id)),
  handleLines(computeRouters.list, ({ actor, params, request, signal }) => routers.list(actor, params.cloud_id, request.id, signal)),
  handle(computeRouters.get, ({ actor, params }) => routers.get(actor, params.cloud_id, params.id)),
  handle(computeRouters.create, ({ actor, params, body }) => routers.create(actor, params.cloud_id, body)),
  handle(computeRouters.update, ({ actor, params, body }) => routers.update(actor, params.cloud_id, params.id, body)),
  handle(computeRouters.setGateway, ({ actor, params, body }) => routers.setGateway(actor, params.cloud_id, params.id, body)),
  handle(computeRouters.clearGateway, ({ actor, params }) => routers.clearGateway(actor, params.cloud_id, params.id)),
  handle(computeRouters.addInterface, ({ actor, params, body }) => routers.addInterface(actor, params.cloud_id, params.id, body)),
  handle(computeRouters.removeInterface, ({ actor, params, body }) => routers.removeInterface(actor, params.cloud_id, params.id, body)),
  handle(computeRouters.setRoutes, ({ actor, params, body }) => routers.setRoutes(actor, params.cloud_id, params.id, body)),
  handle(computeRouters.delete, ({ actor, params }) => routers.delete(actor, params.cloud_id, params.id)),
]
