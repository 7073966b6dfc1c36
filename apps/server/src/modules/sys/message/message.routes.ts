import { messages } from '@zhisuan/contract/sys/message'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { MessageService } from './message.service.ts'

export const messageRoutes = (service: MessageService): Handler[] => [
  handle(messages.list, ({ actor, query }) => service.list(actor, query)),
  handle(messages.unread, ({ actor }) => service.unread(actor)),
  handle(messages.read, ({ actor, body }) => service.read(actor, body.ids)),
  handle(messages.readAll, ({ actor, body }) => service.readAll(actor, body.category)),
]
