import { keptProjects } from '@zhisuan/contract/iam/project'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ProjectService } from './project.service.ts'

export const projectRoutes = (service: ProjectService): Handler[] => [
  handle(keptProjects.list, ({ actor, query }) => service.list(actor, query)),
  handle(keptProjects.create, ({ actor, body }) => service.create(actor, body)),
  handle(keptProjects.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(keptProjects.update, ({ actor, params, body }) => service.update(actor, params.id, body)),
  handle(keptProjects.delete, ({ actor, params }) => service.remove(actor, params.id)),
  handle(keptProjects.contents, ({ actor, params }) => service.contents(actor, params.id)),
  handle(keptProjects.members, ({ actor, params, query }) => service.members(actor, params.id, query)),
  handle(keptProjects.addMember, ({ actor, params, body }) => service.addMember(actor, params.id, body)),
  handle(keptProjects.removeMember, ({ actor, params }) => service.removeMember(actor, params)),
]
