import {
  configs as configCalls,
  containerAction,
  containers as calls,
  deployments as deploymentCalls,
  type ContainerAction,
} from '@zhisuan/contract/cis/container'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { Refusal } from '../../platform/errors.ts'
import { handle, type Handler } from '../../platform/http/handler.ts'
import type { FileService } from './access/file.service.ts'
import type { LogService } from './access/log.service.ts'
import type { ContainerTerminals } from './access/terminal.service.ts'
import type { ConfigService } from './config/config.service.ts'
import type { ContainerService } from './container/container.service.ts'

export const containerRoutes = (containers: ContainerService): Handler[] => [
  handle(calls.list, ({ actor, query }) => containers.list(actor, query)),
  handle(calls.get, ({ actor, params }) => containers.get(actor, params.id)),
  handle(calls.check, ({ actor, body }) => containers.check(actor, body)),
  handle(calls.deploy, ({ actor, body }) => containers.deploy(actor, body)),
  handle(calls.action, ({ actor, params, query, body }) => containers.action(actor, params.id, askedBy(query, body))),
  handle(calls.delete, ({ actor, params }) => containers.delete(actor, params.id)),
  handle(calls.operations, ({ actor, params, query }) => containers.operations(actor, params.id, query)),
  handle(calls.stats, ({ actor, params }) => containers.stats(actor, params.id)),
  handle(deploymentCalls.list, ({ actor, query }) => containers.deployments.list(actor, query)),
  handle(deploymentCalls.instances, ({ actor, params, query }) => containers.deployments.instances(actor, params.id, query)),
  handle(deploymentCalls.delete, ({ actor, params }) => containers.deployments.delete(actor, params.id)),
]

/** The body's action counts; without one the parameters say it. */
function askedBy(query: QueryOf<typeof calls.action>, body: BodyOf<typeof calls.action>): ContainerAction {
  if (body.action !== undefined) return body
  const asked = containerAction.safeParse(query)
  if (asked.success) return asked.data
  throw new Refusal('fieldsInvalid', { fields: asked.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })) })
}

export const accessRoutes = ({ terminals, logs, files }: { terminals: ContainerTerminals; logs: LogService; files: FileService }): Handler[] => [
  handle(calls.terminal, ({ actor, params, body }) => terminals.open(actor, params.id, body)),
  handle(calls.logs, ({ actor, params, query }) => logs.read(actor, params.id, query)),
  handle(calls.logLink, ({ actor, params, body }) => logs.link(actor, params.id, body.how)),
  handle(calls.files, ({ actor, params, query }) => files.list(actor, params.id, query.path)),
  handle(calls.fileLink, ({ actor, params, body }) => files.link(actor, params.id, body)),
]

export const configRoutes = (configs: ConfigService): Handler[] => [
  handle(configCalls.list, ({ actor, query }) => configs.list(actor, query)),
  handle(configCalls.put, ({ actor, body }) => configs.put(actor, body)),
  handle(configCalls.delete, ({ actor, params }) => configs.delete(actor, params.id)),
]
