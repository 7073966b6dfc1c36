import { vpcs as calls } from '@zhisuan/contract/nextstack/vpc'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { VpcService } from './vpc.service.ts'

export const vpcRoutes = (vpcs: VpcService): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => vpcs.list(scope, query)),
  handle(calls.get, ({ actor, params }) => vpcs.get(actor, params.id)),
  handle(calls.create, ({ actor, body }) => vpcs.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => vpcs.update(actor, params.id, body)),
  handle(calls.setSecurityGroups, ({ actor, params, body }) => vpcs.setSecurityGroups(actor, params.id, body.security_group_ids)),
  handle(calls.apply, ({ actor, params }) => vpcs.apply(actor, params.id)),
  handle(calls.delete, ({ actor, params }) => vpcs.delete(actor, params.id)),
  handle(calls.leases, ({ actor, params }) => vpcs.leases(actor, params.id)),
  handle(calls.topology, ({ actor, params }) => vpcs.topology(actor, params.id)),
]
