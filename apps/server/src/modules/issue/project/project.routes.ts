import { projects } from '@zhisuan/contract/issue/project'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import { listProjects } from './project.store.ts'

/** Who runs the platform or an organisation works in all its projects; others in those they are members of. */
const onlyAsMember = (actor: Actor): boolean => !isPlatformKind(actor.kind) && !actor.roles.includes('TENANT_ADMIN')

export const projectRoutes = (db: Db): Handler[] => [
  handle(projects.list, ({ actor, query }) => listProjects(db, scopeOf(actor), onlyAsMember(actor) ? actor.user_id : null, query)),
]
