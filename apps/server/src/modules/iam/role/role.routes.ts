import { customRoles } from '@zhisuan/contract/iam/role'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { RoleService } from './role.service.ts'

export const roleRoutes = (service: RoleService): Handler[] => [
  handle(customRoles.list, ({ actor, query }) => service.list(actor, query)),
  handle(customRoles.create, ({ actor, body }) => service.create(actor, body)),
  handle(customRoles.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(customRoles.update, ({ actor, params, body }) => service.update(actor, params.id, body)),
  handle(customRoles.delete, ({ actor, params }) => service.remove(actor, params.id)),
  handle(customRoles.members, ({ actor, params, query }) => service.members(actor, params.id, query)),
  handle(customRoles.addMember, ({ actor, params, body }) => service.addMember(actor, params.id, body)),
  handle(customRoles.removeMember, ({ actor, params }) => service.removeMember(actor, params)),
]
