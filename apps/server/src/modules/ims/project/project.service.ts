import type { RegistryProject, registryProjects } from '@zhisuan/contract/ims/project'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Limits } from '../../iam/rules/limits.ts'
import { getRegistry } from '../registry/registry.store.ts'
import * as store from './project.store.ts'

type Calls = typeof registryProjects

export type ProjectService = ReturnType<typeof createProjects>

export function createProjects({ db }: Pick<Platform, 'db'>, { limits }: { limits: Pick<Limits, 'refuseUnknownOrganisation'> }) {
  const taken = { registry_projects_name: ['registryProjectNameTaken', 'name'] } as const
  const show = async (actor: Actor, at: store.ProjectAt): Promise<RegistryProject> => shape(found(await store.showProject(db, scopeOf(actor), at)))
  /** What only the platform's administrators say. @throws Refusal 3000 */
  const refuseOthers = (actor: Actor, body: { bp_id?: unknown; quota_bytes?: unknown }): void => {
    if ((body.bp_id !== undefined || body.quota_bytes !== undefined) && !isPlatformKind(actor.kind)) throw new Refusal('noPermission')
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
      const pid = uuidv7()
      await refusing(taken, () =>
        store.insertProject(db, {
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
        }),
      )
      return show(actor, { id, pid })
    },

    async update(actor: Actor, at: store.ProjectAt, body: BodyOf<Calls['update']>): Promise<RegistryProject> {
      refuseOthers(actor, body)
      found(await store.showProject(db, scopeOf(actor), at))
      const { bp_id } = body
      if (bp_id !== undefined) await limits.refuseUnknownOrganisation(db, bp_id)
      await db.transaction().execute(async (tx) => {
        found(await store.lockProject(tx, scopeOf(actor), at.pid))
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
    async delete(actor: Actor, at: store.ProjectAt, force: boolean, empty: (project: store.ProjectRow) => Promise<void>): Promise<void> {
      const project = found(await store.showProject(db, scopeOf(actor), at))
      const { repository_count: repositories, tag_count: tags } = project
      if (repositories > 0 && !force) throw new Refusal('registryProjectNotEmpty', { values: { repositories, tags } })
      await empty(project)
      await db.transaction().execute(async (tx) => {
        found(await store.lockProject(tx, scopeOf(actor), at.pid))
        await store.deleteProject(tx, at.pid)
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
