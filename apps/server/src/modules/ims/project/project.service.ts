import { isDeepStrictEqual } from 'node:util'
import type { RegistryProject, registryProjects } from '@zhisuan/contract/ims/project'
import type { Also, BodyOf, QueryOf } from '@zhisuan/contract/define'
import { alsoInProject } from '@zhisuan/contract/ims/rights'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { isEngineError } from '@zhisuan/engines/errors'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { StandingService } from '../../bill/arrears/standing.service.ts'
import type { Limits } from '../../iam/rules/limits.ts'
import type { Asking, RefuseAlso } from '../imageRights.ts'
import { leaveProject, leftProjects } from '../repository/repository.store.ts'
import { getRegistry, type RegistryRow } from '../registry/registry.store.ts'
import * as store from './project.store.ts'

type Calls = typeof registryProjects

export type ProjectService = ReturnType<typeof createProjects>

export function createProjects(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  parts: {
    limits: Pick<Limits, 'refuseUnknownOrganisation'>
    mayMake: StandingService['mayMake']
    refuseAlso: RefuseAlso
    /** Whether there are images of such a project already. @throws EngineError where the registry does not answer */
    isThere: (registry: RegistryRow, name: string) => Promise<boolean>
  },
) {
  const taken = { registry_projects_name: ['registryProjectNameTaken', 'name'] } as const
  const show = async (actor: Actor, at: store.ProjectAt): Promise<RegistryProject> => shape(found(await store.showProject(db, scopeOf(actor), at)))
  /** What only the platform's administrators say. @throws Refusal 3000 */
  const refuseOthers = (actor: Actor, body: { bp_id?: unknown; quota_bytes?: unknown }): void => {
    if ((body.bp_id !== undefined || body.quota_bytes !== undefined) && !isPlatformKind(actor.kind)) throw new Refusal('noPermission')
  }

  /** In the project as a whole, for what is to come, and in each of its repositories: a policy may name a single one. */
  const ofEach = async (on: Sql, pid: string, actions: readonly string[]): Promise<readonly Also[]> => {
    const names = await store.repositoryNames(on, pid)
    return [undefined, ...names].flatMap((name) => actions.map((action) => alsoInProject(action, { pid, name })))
  }

  /** What somebody does who lets go of what held: tags go that would have stayed, and everybody pulls what some may not. */
  const loosened = async (on: Sql, row: store.ProjectRow, body: BodyOf<Calls['update']>): Promise<readonly Also[]> => {
    const deletes =
      body.bin_days < row.bin_days ||
      row.immutable_tags.some((pattern) => !body.immutable_tags.includes(pattern)) ||
      (body.keep_rules.length > 0 && !isDeepStrictEqual(body.keep_rules, row.keep_rules))
    const opens = body.visibility === 'public' && row.visibility === 'private'
    const actions = [...(deletes ? ['ims.tag.delete'] : []), ...(opens ? ['ims.repository.pull'] : [])]
    return actions.length === 0 ? [] : ofEach(on, row.id, actions)
  }

  /** Images that are there would be whoever's makes the project: of one that was deleted, or of others who fill the same registry. @throws Refusal */
  const refuseForeign = async (actor: Actor, registry: RegistryRow, name: string): Promise<void> => {
    const takenName = () => new Refusal('registryProjectNameTaken', { field: 'name' })
    const left = (await leftProjects(db, registry.id)).find((one) => one.name === name)
    if (left !== undefined && left.bp_id !== actor.bp_id) throw takenName()
    if (registry.origin === 'kept' || left !== undefined || isPlatformKind(actor.kind)) return
    // What was compared has made projects of all that was there, and since then nobody fills it but by our tokens.
    if (registry.ours && registry.reconciled_at !== null) return
    const there = await parts.isThere(registry, name).catch((error: unknown) => {
      throw isEngineError(error) ? new Refusal('registryBusy', { cause: error }) : error
    })
    if (there) throw takenName()
  }

  return {
    async list(actor: Actor, id: string, query: QueryOf<Calls['list']>) {
      found(await getRegistry(db, id))
      return shapedPage(store.listProjects(db, scopeOf(actor), id, query), shape)
    },

    async create(actor: Actor, id: string, body: BodyOf<Calls['create']>): Promise<RegistryProject> {
      refuseOwnerless(scopeOf(actor))
      const registry = found(await getRegistry(db, id))
      if (registry.status !== 'active') throw new Refusal('registryUnknown')
      await refuseForeign(actor, registry, body.name)
      const pid = uuidv7()
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          // What is pushed to it costs by the hour.
          await parts.mayMake(tx, actor.bp_id)
          await tx.deleteFrom('registry_left_projects').where('registry_id', '=', id).where('name', '=', body.name).execute()
          await store.insertProject(tx, {
            id: pid,
            registry_id: id,
            name: body.name,
            bp_id: actor.bp_id,
            description: body.description,
            visibility: body.visibility,
            immutable_tags: body.immutable_tags,
            keep_rules: jsonb(body.keep_rules),
            bin_days: body.bin_days,
            quota_bytes: null,
            ...authoredBy(actor),
          })
        }),
      )
      return show(actor, { id, pid })
    },

    async update({ actor, context }: Asking, at: store.ProjectAt, body: BodyOf<Calls['update']>): Promise<RegistryProject> {
      refuseOthers(actor, body)
      found(await store.showProject(db, scopeOf(actor), at))
      const { bp_id } = body
      if (bp_id !== undefined) await parts.limits.refuseUnknownOrganisation(db, bp_id)
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockProject(tx, scopeOf(actor), at.pid))
        await parts.refuseAlso(actor, await loosened(tx, row, body), context)
        await store.updateProject(tx, at.pid, {
          description: body.description,
          visibility: body.visibility,
          immutable_tags: body.immutable_tags,
          keep_rules: jsonb(body.keep_rules),
          bin_days: body.bin_days,
          ...(bp_id !== undefined && { bp_id }),
          ...(body.quota_bytes !== undefined && { quota_bytes: body.quota_bytes }),
        })
        if (bp_id !== undefined) await tx.updateTable('registry_repositories').set({ bp_id }).where('project_id', '=', at.pid).execute()
      })
      return show(actor, at)
    },

    /** @param empty takes what is in it out of the registry, for good */
    async delete({ actor, context }: Asking, at: store.ProjectAt, force: boolean, empty: (project: store.ProjectRow) => Promise<void>): Promise<void> {
      const project = found(await store.showProject(db, scopeOf(actor), at))
      await parts.refuseAlso(actor, await ofEach(db, project.id, ['ims.repository.delete', 'ims.tag.delete']), context)
      const { repository_count: repositories, tag_count: tags } = project
      if (repositories > 0 && !force) throw new Refusal('registryProjectNotEmpty', { values: { repositories, tags } })
      await empty(project)
      await db.transaction().execute(async (tx) => {
        found(await store.lockProject(tx, scopeOf(actor), at.pid))
        await store.deleteProject(tx, at.pid)
        await leaveProject(tx, { registry_id: at.id, name: project.name, bp_id: project.bp_id, deleted_at: now() })
      })
    },
  }
}

const shape = (row: store.ShownProject): RegistryProject => ({
  id: row.id,
  registry_id: row.registry_id,
  name: row.name,
  description: row.description,
  visibility: row.visibility,
  immutable_tags: row.immutable_tags,
  keep_rules: row.keep_rules,
  bin_days: row.bin_days,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  quota_bytes: row.quota_bytes,
  used_bytes: row.used_bytes,
  repository_count: row.repository_count,
  tag_count: row.tag_count,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})
