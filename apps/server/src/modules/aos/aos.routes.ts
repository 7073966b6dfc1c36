import { nodeStacks, services as serviceCalls, stackConfigs, stackDeployments, stacks as calls, templates as templateCalls } from '@zhisuan/contract/aos/stack'
import { handle, type Handler } from '../../platform/http/handler.ts'
import type { History } from '../../platform/history.ts'
import type { StackService } from './stack/stack.service.ts'
import type { TemplateService } from './template/template.service.ts'

export const templateRoutes = (templates: TemplateService): Handler[] => [
  handle(templateCalls.list, ({ actor, query }) => templates.list(actor, query)),
  handle(templateCalls.create, ({ actor, body }) => templates.create(actor, body)),
  handle(templateCalls.get, ({ actor, params }) => templates.get(actor, params.id)),
  handle(templateCalls.update, ({ actor, params, body }) => templates.update(actor, params.id, body)),
  handle(templateCalls.delete, ({ actor, query }) => templates.delete(actor, query)),
  handle(templateCalls.versions, ({ actor, params }) => templates.versions(actor, params.id)),
]

export const stackRoutes = (stacks: StackService, history: History): Handler[] => [
  handle(calls.list, ({ actor, query }) => stacks.list(actor, query)),
  handle(calls.create, ({ actor, body }) => stacks.deploy(actor, body)),
  handle(calls.validate, ({ actor, body }) => stacks.validate(actor, body)),
  handle(calls.delete, ({ actor, params }) => stacks.delete(actor, params.id)),
  handle(calls.action, ({ actor, params, body }) => stacks.action(actor, params.id, body)),
  handle(calls.composeConfig, ({ actor, params }) => stacks.composeConfig(actor, params.id)),
  handle(calls.operations, async ({ actor, params, query }) => {
    await stacks.get(actor, params.id)
    return history.list(params.id, query)
  }),
  handle(serviceCalls.list, ({ actor, params }) => stacks.services.list(actor, params.id)),
  handle(serviceCalls.action, ({ actor, params, body }) => stacks.services.action(actor, params.id, body)),
  handle(serviceCalls.delete, ({ actor, params }) => stacks.services.delete(actor, params.id)),
  handle(serviceCalls.instances, ({ actor, params }) => stacks.services.instances(actor, params.id)),
  handle(stackDeployments.list, ({ actor, query }) => stacks.deployments.list(actor, query)),
  handle(stackDeployments.get, ({ actor, params }) => stacks.deployments.get(actor, params.id)),
  handle(stackDeployments.stacks, ({ actor, params, query }) => stacks.deployments.stacks(actor, params.id, query)),
  handle(stackDeployments.delete, ({ actor, params }) => stacks.deployments.delete(actor, params.id)),
  handle(stackConfigs.list, ({ actor, query }) => stacks.listConfigs(actor, query)),
  handle(stackConfigs.put, ({ actor, body }) => stacks.putConfigs(actor, body)),
  handle(nodeStacks.create, ({ actor, body }) => stacks.deployToNode(actor, body)),
  handle(nodeStacks.get, ({ actor, params }) => stacks.get(actor, params.id)),
  handle(nodeStacks.delete, ({ actor, params }) => stacks.delete(actor, params.id)),
]
