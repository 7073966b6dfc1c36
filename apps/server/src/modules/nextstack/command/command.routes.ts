import { commands as calls } from '@zhisuan/contract/nextstack/command'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { CommandService } from './command.service.ts'

export const commandRoutes = (commands: CommandService): Handler[] => [
  handle(calls.list, ({ actor, query }) => commands.list(actor, query)),
  handle(calls.get, ({ actor, params }) => commands.get(actor, params.id)),
  handle(calls.result, ({ actor, params }) => commands.result(actor, params.id, params.vm_id)),
  handle(calls.create, ({ actor, body }) => commands.create(actor, body)),
  handle(calls.cancel, ({ actor, params }) => commands.cancel(actor, params.id)),
]
