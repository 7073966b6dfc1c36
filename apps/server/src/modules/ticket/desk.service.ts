import type { cannedAnswers, TicketGroup, ticketGroups } from '@zhisuan/contract/ticket/desk'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { iso, type Db, type Tx } from '../../platform/db/database.ts'
import { refusing } from '../../platform/db/refusing.ts'
import { found, Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import * as store from './ticket.store.ts'

/** Groups of those who answer, and what they keep ready. */
export function createDesk(db: Db) {
  const group = async (id: string): Promise<TicketGroup> => {
    const row = found((await store.listGroups(db)).find((one) => one.id === id))
    return { ...row, created_at: iso(row.created_at) }
  }
  const nameTaken = { ticket_groups_name_key: ['ticketGroupNameTaken', 'name'] } as const
  const setMembers = async (tx: Tx, id: string, userIds: readonly string[]): Promise<void> => {
    for (const userId of userIds) if ((await store.answerer(tx, userId)) === undefined) throw new Refusal('ticketAssigneeUnknown', { field: 'user_ids' })
    await store.setMembers(tx, id, userIds)
  }

  return {
    groups: async (): Promise<ResponseOf<(typeof ticketGroups)['list']>> => ({
      items: (await store.listGroups(db)).map((row) => ({ ...row, created_at: iso(row.created_at) })),
    }),
    async createGroup({ name, types, user_ids }: BodyOf<(typeof ticketGroups)['create']>): Promise<TicketGroup> {
      const id = uuidv7()
      await refusing(nameTaken, () =>
        db.transaction().execute(async (tx) => {
          await store.insertGroup(tx, { id, name, types })
          await setMembers(tx, id, user_ids)
        }),
      )
      return group(id)
    },
    async updateGroup(id: string, { name, types, user_ids }: BodyOf<(typeof ticketGroups)['update']>): Promise<TicketGroup> {
      await refusing(nameTaken, () =>
        db.transaction().execute(async (tx) => {
          found(await store.getGroup(tx, id))
          await store.updateGroup(tx, id, { name, types })
          await setMembers(tx, id, user_ids)
        }),
      )
      return group(id)
    },
    async deleteGroup(id: string): Promise<void> {
      found(await store.getGroup(db, id))
      await store.removeGroup(db, id)
    },

    canned: async () => ({ items: await store.listCanned(db) }),
    async createCanned(body: BodyOf<(typeof cannedAnswers)['create']>) {
      const row = { id: uuidv7(), ...body }
      await store.insertCanned(db, row)
      return row
    },
    async updateCanned(id: string, body: BodyOf<(typeof cannedAnswers)['update']>) {
      found(await store.getCanned(db, id))
      await store.updateCanned(db, id, body)
      return { id, ...body }
    },
    async deleteCanned(id: string): Promise<void> {
      found(await store.getCanned(db, id))
      await store.removeCanned(db, id)
    },
  }
}
