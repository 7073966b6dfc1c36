import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { keptProjects as calls, KeptProject } from '@zhisuan/contract/iam/project'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { documentsOf } from '../grant/grant.store.ts'
import type { Limits } from '../rules/limits.ts'
import { lockPerson } from '../rules/person.store.ts'
import * as store from './project.store.ts'

type Calls = typeof calls

const taken = { [store.projectIndexes.name]: ['projectNameTaken', 'name'], [store.projectIndexes.key]: ['projectKeyTaken', 'key'] } as const

export type ProjectService = ReturnType<typeof createProjectService>

export function createProjectService({ db, modules }: Pick<Platform, 'db' | 'modules'>, limits: Limits) {
  const shape = (row: store.ShownProject): KeptProject => ({ ...row, created_at: iso(row.created_at) })
  const get = async (actor: Actor, id: string) => found(await store.getProject(db, scopeOf(actor), id))
  const contentsOf = async (on: Sql, { id, bp_id }: { id: string; bp_id: string | null }): Promise<{ resource: string; count: number }[]> => {
    if (bp_id === null) return []
    const items: { resource: string; count: number }[] = []
    for (const { contentsOfProject } of modules())
      items.push(...Object.entries((await contentsOfProject?.(on, { bp_id, project_id: id })) ?? {}).map(([resource, count]) => ({ resource, count })))
    return items
  }

  /** @throws Refusal 404, 91110, 91113 */
  const lockBoth = async (tx: Tx, actor: Actor, { id, user_id }: ParamsOf<Calls['removeMember']>) => {
    const project = found(await store.lockProject(tx, scopeOf(actor), id))
    const person = await lockPerson(tx, scopeOf(actor), user_id)
    if (person === undefined) throw new Refusal('notFound', { field: 'user_id' })
    if (person.bp_id !== project.bp_id) throw new Refusal('holderOfOther', { field: 'user_id' })
    return project
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listProjects(db, scopeOf(actor), query), shape),
    get: async (actor: Actor, id: string): Promise<KeptProject> => shape(await get(actor, id)),

    /** @throws Refusal 3001, 91115 */
    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<KeptProject> {
      const id = uuidv7()
      const bp_id = limits.ownerOf(actor, body.bp_id)
      await refusing(taken, async () => {
        await limits.refuseUnknownOrganisation(db, bp_id)
        await store.insertProject(db, { ...body, id, bp_id })
      })
      return shape(await get(actor, id))
    },

    /** @throws Refusal 3001 */
    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<KeptProject> {
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          found(await store.lockProject(tx, scopeOf(actor), id))
          await store.updateProject(tx, id, body)
        }),
      )
      return shape(await get(actor, id))
    },

    /** Its policies are taken back with it. @throws Refusal 3006, 91116 */
    async remove(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const project = found(await store.lockProject(tx, scopeOf(actor), id))
        if (await store.hasMembers(tx, id)) throw new Refusal('projectHasUsers')
        if ((await contentsOf(tx, project)).some(({ count }) => count > 0)) throw new Refusal('projectInUse')
        await store.deleteProject(tx, id)
      })
    },

    contents: async (actor: Actor, id: string): Promise<ResponseOf<Calls['contents']>> => ({ items: await contentsOf(db, await get(actor, id)) }),

    async members(actor: Actor, id: string, query: QueryOf<Calls['members']>): Promise<ResponseOf<Calls['members']>> {
      await get(actor, id)
      return shapedPage(store.listMembers(db, id, query), (row) => ({
        ...row,
        name: row.name ?? '',
        nickname: row.nickname === '' ? (row.name ?? '') : row.nickname,
      }))
    },

    /** Whoever is in a project has what its policies allow. @throws Refusal 91106, 91113 */
    async addMember(actor: Actor, id: string, { user_id }: BodyOf<Calls['addMember']>): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await lockBoth(tx, actor, { id, user_id })
        await limits.refuseToGive(
          tx,
          actor,
          (await documentsOf(tx, { project_id: id })).map(({ document }) => document),
          { user_id },
        )
        if (await store.addMember(tx, { project_id: id, user_id })) await limits.tell(tx)
      })
      await limits.changed()
    },

    /** @throws Refusal 3000, 91110 where its policies speak about oneself */
    async removeMember(actor: Actor, params: ParamsOf<Calls['removeMember']>): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await lockBoth(tx, actor, params)
        const documents = await documentsOf(tx, { project_id: params.id })
        if (documents.length > 0) await limits.refuseOwn(tx, actor, { user_id: params.user_id })
        await limits.refuseToUndeny(tx, actor, documents, { user_id: params.user_id })
        if (!(await store.removeMember(tx, { project_id: params.id, user_id: params.user_id }))) throw new Refusal('notFound')
        await limits.tell(tx)
      })
      await limits.changed()
    },
  }
}
