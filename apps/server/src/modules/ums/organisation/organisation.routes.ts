import { organisations } from '@zhisuan/contract/ums/user'
import { scopeOf } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import { listOrganisations } from './organisation.store.ts'

export const organisationRoutes = (db: Db): Handler[] => [handle(organisations.list, ({ actor, query }) => listOrganisations(db, scopeOf(actor), query))]
