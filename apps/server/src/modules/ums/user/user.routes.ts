import { auth } from '@zhisuan/contract/ums/auth'
import { users as calls } from '@zhisuan/contract/ums/user'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { UserService } from './user.service.ts'

export const userRoutes = (users: UserService): Handler[] => [
  handle(auth.register, ({ body }) => users.register(body)),
  handle(auth.retrievePassword, ({ body }) => users.retrievePassword(body)),
  handle(calls.list, ({ actor, query }) => users.list(actor, query)),
  handle(calls.delete, ({ actor, params }) => users.remove(actor, params.id)),
  handle(calls.current, ({ actor }) => users.current(actor)),
  handle(calls.updateCurrent, ({ actor, body }) => users.updateCurrent(actor, body)),
  handle(calls.changePassword, ({ actor, body }) => users.changePassword(actor, body)),
  handle(calls.changePhone, ({ actor, body }) => users.changePhone(actor, body)),
  handle(calls.changeEmail, ({ actor, body }) => users.changeEmail(actor, body)),
]
