import { auth } from '@zhisuan/contract/ums/auth'
import { users as calls } from '@zhisuan/contract/ums/user'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { KeepService } from './keep.service.ts'
import type { UserService } from './user.service.ts'

export const userRoutes = (users: UserService, keep: KeepService): Handler[] => [
  handle(auth.register, ({ body }) => users.register(body)),
  handle(auth.retrievePassword, ({ body }) => users.retrievePassword(body)),
  handle(calls.list, ({ actor, query }) => users.list(actor, query)),
  handle(calls.create, ({ actor, body }) => keep.create(actor, body)),
  handle(calls.get, ({ actor, params }) => keep.get(actor, params.id)),
  handle(calls.update, ({ actor, params, body }) => keep.update(actor, params.id, body)),
  handle(calls.action, ({ actor, params, body }) => keep.act(actor, params.id, body)),
  handle(calls.sessions, ({ actor, params }) => keep.sessions(actor, params.id)),
  handle(calls.endSession, ({ actor, params }) => keep.endSession(actor, params.id, params.session_id)),
  handle(calls.ownSessions, ({ actor }) => keep.ownSessions(actor)),
  handle(calls.endOwnSession, ({ actor, params }) => keep.endOwnSession(actor, params.session_id)),
  handle(calls.delete, ({ actor, params }) => users.remove(actor, params.id)),
  handle(calls.current, ({ actor }) => users.current(actor)),
  handle(calls.updateCurrent, ({ actor, body }) => users.updateCurrent(actor, body)),
  handle(calls.changePassword, ({ actor, body }) => users.changePassword(actor, body)),
  handle(calls.changePhone, ({ actor, body }) => users.changePhone(actor, body)),
  handle(calls.changeEmail, ({ actor, body }) => users.changeEmail(actor, body)),
]
