import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { organisations as calls } from '@zhisuan/contract/ums/user'
import { platformScope, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { SessionService } from '../session/session.service.ts'
import * as store from './organisation.store.ts'

type Calls = typeof calls
type Detail = ResponseOf<Calls['get']>

const taken = { [store.companyNameIndex]: ['organisationNameTaken', 'name'] } as const

export type OrganisationService = ReturnType<typeof createOrganisationService>

export function createOrganisationService(
  { db }: Pick<Platform, 'db'>,
  { sessions, organisationMade }: { sessions: SessionService; organisationMade: (tx: Tx, bpId: string) => Promise<void> },
) {
  const get = async (scope: Scope, id: string): Promise<Detail> => {
    const row = found(await store.getOrganisation(db, scope, id))
    return { ...row, created_at: iso(row.created_at), ...(await store.keepersOf(db, id)) }
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> => store.listOrganisations(db, scopeOf(actor), query),
    get: (actor: Actor, id: string): Promise<Detail> => get(scopeOf(actor), id),

    /** @throws Refusal 91013 */
    async create(body: BodyOf<Calls['create']>): Promise<Detail> {
      const id = uuidv7()
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await store.insertOrganisation(tx, { ...body, id, kind: 'company', status: 'active' })
          await organisationMade(tx, id)
        }),
      )
      return get(platformScope, id)
    },

    /** @throws Refusal 91013 */
    async update(id: string, body: BodyOf<Calls['update']>): Promise<Detail> {
      await refusing(taken, async () => {
        found((await store.updateOrganisation(db, id, body)) ? id : undefined)
      })
      return get(platformScope, id)
    },

    /** What an organisation runs goes on; its people are out at once, on every server. */
    async act(id: string, { action }: BodyOf<Calls['action']>): Promise<Detail> {
      const ended = await db.transaction().execute(async (tx) => {
        found((await store.updateOrganisation(tx, id, { status: action === 'freeze' ? 'frozen' : 'active' })) ? id : undefined)
        return action === 'freeze' ? sessions.endAllOf(tx, id) : []
      })
      sessions.forgottenOf(id, ended)
      return get(platformScope, id)
    },
  }
}
