import { notices } from '@zhisuan/contract/bill/notice'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { NoticeService } from './notice.service.ts'

export const noticeRoutes = (service: NoticeService): Handler[] => [
  handle(notices.list, ({ actor, query }) => service.list(actor, query)),
  handle(notices.contacts, ({ actor, params }) => service.contacts(actor, params.id)),
  handle(notices.setContacts, ({ actor, params, body }) => service.setContacts(actor, params.id, body)),
]
