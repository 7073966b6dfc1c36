import { preheats as preheatCalls, thirdRegistries as thirdCalls } from '@zhisuan/contract/ims/preheat'
import { registryProjects, repositories as repositoryCalls, repositoryAccess, tagBin } from '@zhisuan/contract/ims/project'
import { registries as registryCalls, registryCommands, registryUsers } from '@zhisuan/contract/ims/registry'
import { contextOf } from '../../platform/http/bind.ts'
import { handle, type Handler } from '../../platform/http/handler.ts'
import type { PreheatService } from './preheat/preheat.service.ts'
import type { ProjectService } from './project/project.service.ts'
import type { RegistryService } from './registry/registry.service.ts'
import type { RepositoryService } from './repository/repository.service.ts'
import type { ThirdService } from './third/third.service.ts'
import type { TokenService } from './token/token.service.ts'
import type { RegistryUserService } from './user/user.service.ts'

export const imsRoutes = (parts: {
  registries: RegistryService
  users: RegistryUserService
  projects: ProjectService
  repositories: RepositoryService
  tokens: TokenService
  third: ThirdService
  preheats: PreheatService
}): Handler[] => {
  const { registries, users, projects, repositories, tokens, third, preheats } = parts
  return [
    handle(registryCalls.list, ({ query }) => registries.list(query)),
    handle(registryCalls.regions, () => registries.regions()),
    handle(registryCalls.get, ({ actor, params }) => registries.get(actor, params.id)),
    handle(registryCalls.create, ({ actor, body }) => registries.create(actor, body)),
    handle(registryCalls.update, ({ actor, params, body }) => registries.update(actor, params.id, body)),
    handle(registryCalls.delete, ({ actor, params, query }) => registries.delete(actor, params.id, query.force)),
    handle(registryCalls.action, ({ params, query }) => registries.act(params.id, query.action)),
    handle(registryCalls.collect, ({ actor, params }) => registries.collect(actor, params.id)),
    handle(registryCalls.log, ({ params, query }) => registries.log(params.id, query.lines)),
    handle(registryCalls.password, ({ params, body }) => registries.password(params.id, body)),
    handle(registryUsers.list, ({ query }) => users.list(query)),
    handle(registryUsers.create, ({ actor, body }) => users.set(actor, body)),
    handle(registryUsers.exist, ({ actor }) => users.exist(actor)),
    handle(registryUsers.delete, ({ params }) => users.delete(params.id)),
    handle(registryCommands.create, ({ actor, body }) => users.commands(actor, body)),
    handle(registryProjects.list, ({ actor, params, query }) => projects.list(actor, params.id, query)),
    handle(registryProjects.create, ({ actor, params, body }) => projects.create(actor, params.id, body)),
    handle(registryProjects.update, ({ actor, request, params, body }) => projects.update({ actor, context: contextOf(actor, request) }, params, body)),
    handle(registryProjects.delete, ({ actor, request, params, query }) =>
      projects.delete({ actor, context: contextOf(actor, request) }, params, query.force, repositories.empty),
    ),
    handle(registryProjects.keepPreview, ({ actor, request, params, body }) =>
      repositories.keepPreview({ actor, context: contextOf(actor, request) }, params, body),
    ),
    handle(repositoryCalls.all, ({ actor, params, query }) => repositories.all(actor, params.id, query)),
    handle(repositoryCalls.list, ({ actor, params, query }) => repositories.list(actor, params, query)),
    handle(repositoryCalls.get, ({ actor, params }) => repositories.get(actor, params)),
    handle(repositoryCalls.update, ({ actor, params, body }) => repositories.update(actor, params, body)),
    handle(repositoryCalls.delete, ({ actor, params }) => repositories.delete(actor, params)),
    handle(repositoryCalls.tags, ({ actor, params, query }) => repositories.tags(actor, params, query)),
    handle(repositoryCalls.deleteTag, ({ actor, params }) => repositories.deleteTag(actor, params)),
    handle(repositoryCalls.buildHistory, ({ actor, params, query }) => repositories.buildHistory(actor, params, query)),
    handle(repositoryAccess.pull, async ({ actor, params }) => tokens.signFor(params.id, actor, await repositories.pullable(actor, params), ['pull'])),
    handle(repositoryAccess.push, async ({ actor, params }) => tokens.signFor(params.id, actor, await repositories.pushable(actor, params), ['pull', 'push'])),
    handle(tagBin.list, ({ actor, params, query }) => repositories.bin(actor, params, query)),
    handle(tagBin.restore, ({ actor, request, params }) => repositories.restore({ actor, context: contextOf(actor, request) }, params)),
    handle(tagBin.delete, ({ actor, request, params }) => repositories.deleteBinned({ actor, context: contextOf(actor, request) }, params)),
    handle(preheatCalls.nodes, ({ actor, params, query }) => preheats.nodes(actor, params.id, query)),
    handle(preheatCalls.list, ({ actor, query }) => preheats.list(actor, query)),
    handle(preheatCalls.get, ({ actor, params }) => preheats.get(actor, params.id)),
    handle(preheatCalls.create, ({ actor, request, params, body }) => preheats.create({ actor, context: contextOf(actor, request) }, params.id, body)),
    handle(preheatCalls.createThird, ({ actor, request, params, body }) =>
      preheats.createThird({ actor, context: contextOf(actor, request) }, params.id, body),
    ),
    handle(preheatCalls.retry, ({ actor, request, params }) => preheats.retry({ actor, context: contextOf(actor, request) }, params.id)),
    handle(preheatCalls.delete, ({ actor, query }) => preheats.remove(actor, query)),
    handle(thirdCalls.list, ({ actor, query }) => third.list(actor, query)),
    handle(thirdCalls.nodes, ({ actor, query }) => preheats.ownNodes(actor, query)),
    handle(thirdCalls.get, ({ actor, params }) => third.get(actor, params.id)),
    handle(thirdCalls.create, ({ actor, body }) => third.create(actor, body)),
    handle(thirdCalls.update, ({ actor, params, body }) => third.update(actor, params.id, body)),
    handle(thirdCalls.delete, ({ actor, params }) => third.delete(actor, params.id)),
    handle(thirdCalls.repositories, ({ actor, params, query }) => third.repositories(actor, params.id, query)),
    handle(thirdCalls.tags, ({ actor, params, query }) => third.tags(actor, params.id, query)),
  ]
}
