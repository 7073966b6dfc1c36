import {
  quotaKinds,
  quotaServices,
  type keystoneProjects as calls,
  type KeystoneProject,
  type ProjectQuota,
  type QuotaKind,
  type QuotaService,
} from '@zhisuan/contract/compute/project'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { fillText } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { heldTexts } from '@zhisuan/contract/texts'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { KeystoneProject as Engine } from '@zhisuan/engines/openstack/identity'
import { platformScope, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { Refusal } from '../../../platform/errors.ts'
import { problemOf, toRefusal } from '../../../platform/http/problems.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { lostIn } from '../metering/metering.store.ts'
import { linesOf, merged, type Pages } from '../../../platform/lines.ts'
import { amountOf, cloudKinds, quotasOf } from './quota.ts'
import { forgetDeletedProject, isDeleted, isGone, type Telling } from './project.problems.ts'
import { nameForOwner, ourTag, type WholeTenancy } from './tenancy.service.ts'
import * as store from './tenancy.store.ts'
import type { NamedKeystoneProject, Owner } from './tenancy.store.ts'

type Kinds = ProjectQuota['kinds']
/** Of what was lost with a project so much is named. */
const lostShown = 20

/** Which of a cloud's Keystone projects is whose, for administrators; and what projects may have at most. */
export function createKeystoneProjects(parts: Pick<Platform, 'db' | 'now'> & Telling & { clouds: CloudService; tenancy: WholeTenancy }) {
  const { db, now, clouds, tenancy } = parts

  const rowsOf = async (cloudId: string) => new Map((await store.keystoneProjects(db, platformScope, cloudId)).map((row) => [row.keystone_id, row]))
  const one = async (cloudId: string, cloud: OpenStack, id: string): Promise<KeystoneProject> => {
    const [project, rows, home] = await Promise.all([there(cloud, id), rowsOf(cloudId), cloud.session.whoami()])
    return shape(project, rows.get(id), home.projectId)
  }
  /** Of all services that answer; those that do not are told beside. */
  const ofServices = async (ask: (service: QuotaService) => Promise<Kinds>, requestId: string): Promise<{ kinds: Kinds; failed: Problem[] }> => {
    const failed: Problem[] = []
    const parts = await Promise.all(
      quotaServices.map((service) =>
        ask(service).catch((error: unknown): Kinds => {
          if (!(error instanceof EngineError)) throw error
          failed.push(problemOf(toRefusal(error), requestId))
          return {}
        }),
      ),
    )
    return { kinds: Object.assign({}, ...parts) as Kinds, failed }
  }
  const quotaOf = async (
    cloud: OpenStack,
    of: Pick<ProjectQuota, 'keystone_project_id' | 'name' | 'project_id'>,
    requestId: string,
  ): Promise<ProjectQuota> => ({
    ...of,
    ...(await ofServices((service) => quotasOf(cloud, service, of.keystone_project_id), requestId)),
  })
  const ofProject = (project: KeystoneProject) => ({ keystone_project_id: project.id, name: ownerName(project), project_id: project.project_id })

  return {
    async *list(cloudId: string, requestId: string, signal: AbortSignal) {
      const cloud = await clouds.openStack(cloudId)
      const [rows, { projectId }] = await Promise.all([rowsOf(cloudId), cloud.session.whoami(signal)])
      const items = async function* (): AsyncGenerator<KeystoneProject[]> {
        const unseen = new Map(rows)
        for await (const page of cloud.identity.projects.list({}, signal)) {
          for (const { id } of page) unseen.delete(id)
          yield page.map((project) => shape(project, rows.get(project.id), projectId))
        }
        for (const row of unseen.values()) if (await isGone(cloud, row.keystone_id)) yield [missingShape(row)]
      }
      yield* linesOf({ items: items(), requestId })
    },

    /** What is wrong with projects of organisations, as the last looks saw it. */
    async problems(of: QueryOf<typeof calls.problems>): Promise<ResponseOf<typeof calls.problems>> {
      const rows = await store.projectTroubles(db, of)
      const ids = rows.filter(({ problem }) => problem === 'deleted').map(({ keystone_id }) => keystone_id)
      const lost = ids.length === 0 ? [] : await lostIn(db, ids, lostShown)
      return {
        items: rows.map((row) => {
          const known = lost.find(({ cloud_id, keystone_id }) => cloud_id === row.cloud_id && keystone_id === row.keystone_id)
          return {
            cloud: { id: row.cloud_id, name: row.cloud_name },
            keystone_project_id: row.keystone_id,
            organisation: namedOf(row.bp_id, row.bp_name),
            project: namedOf(row.project_id, row.project_name),
            problem: row.problem,
            since: iso(row.problem_since),
            lost: known?.lost ?? [],
            lost_count: known?.count ?? 0,
          }
        }),
      }
    },

    /** Two who adopt at once: one of them does. Stopped in between, it is adopted again. */
    async adopt(cloudId: string, id: string, owner: Owner): Promise<KeystoneProject> {
      const cloud = await clouds.openStackForChange(cloudId)
      const before = await one(cloudId, cloud, id)
      if (before.state === 'owned' || before.registration) throw new Refusal('computeProjectOwned')
      if ((await store.organisationWithId(db, owner.bp_id)) === undefined)
        throw new Refusal('organisationMissing', { field: 'bp_id', values: { name: owner.bp_id } })
      if (owner.project_id !== null && (await store.projectOfOrganisation(db, owner)) === undefined)
        throw new Refusal('projectMissing', { field: 'project_id' })
      const other = await store.keystoneProjectOf(db, cloudId, owner)
      const taken = (cause?: unknown) =>
        new Refusal('computeOwnerHasProject', { field: owner.project_id === null ? 'bp_id' : 'project_id', values: { name: other?.keystone_id ?? '' }, cause })
      if (other !== undefined) throw taken()
      await tenancy.join(cloud, id)
      await refusing({ keystone_projects_owner: taken }, async () => {
        const was = before.bp_id === null ? null : { bp_id: before.bp_id, project_id: before.project_id }
        if (!(await store.setKeystoneProject(db, { cloud_id: cloudId, keystone_id: id, bp_id: owner.bp_id, project_id: owner.project_id }, was)))
          throw new Refusal('computeProjectOwned')
      })
      return one(cloudId, cloud, id)
    },

    /** Stopped in between, it is deleted again: of what is gone already, whosever it was, only the row goes. */
    async delete(cloudId: string, id: string): Promise<void> {
      const cloud = await clouds.openStackForChange(cloudId)
      const row = (await rowsOf(cloudId)).get(id)
      if (row !== undefined && (await isDeleted(cloud, row))) {
        if (!(await db.transaction().execute((tx) => forgetDeletedProject(tx, parts, cloudId, id, now())))) throw new Refusal('notFound')
        return
      }
      const project = await one(cloudId, cloud, id)
      if (project.state === 'owned' || project.registration) throw new Refusal('computeProjectOwned')
      if (project.state === 'foreign') throw new Refusal('computeProjectNotOurs')
      const { what, groups } = await contentsOf(cloud, id)
      if (what.length > 0) throw new Refusal('computeProjectHolds', { values: { what: what.join('、') } })
      // Neutron makes one for each project that looks, and nobody else deletes it.
      for (const group of groups) await cloud.network.securityGroups.delete(group).catch(unlessGone)
      await cloud.identity.projects.delete(id).catch(unlessGone)
      await store.deleteKeystoneProject(db, cloudId, id)
    },

    async quota(cloudId: string, id: string, requestId: string): Promise<ProjectQuota> {
      const cloud = await clouds.openStack(cloudId)
      const project = await one(cloudId, cloud, id)
      return quotaOf(cloud, ofProject(project), requestId)
    },

    /** All that is wished is looked at before anything is set; a service that then fails leaves the others' set. */
    async setQuota(cloudId: string, id: string, limits: Partial<Record<QuotaKind, number | null | undefined>>, requestId: string): Promise<ProjectQuota> {
      const cloud = await clouds.openStackForChange(cloudId)
      const project = await one(cloudId, cloud, id)
      const wishes = quotaServices
        .map((service) => ({ service, kinds: quotaKinds[service].filter((kind) => limits[kind] !== undefined) }))
        .filter(({ kinds }) => kinds.length > 0)
      const now = Object.assign({}, ...(await Promise.all(wishes.map(({ service }) => quotasOf(cloud, service, id))))) as Kinds
      for (const { kinds } of wishes) {
        for (const kind of kinds) {
          const [wish, known] = [limits[kind], now[kind]]
          if (known === undefined) throw new Refusal('computeQuotaUnkept', { field: `limits.${kind}` })
          if (typeof wish === 'number' && wish < known.used)
            throw new Refusal('computeQuotaBelowUse', { field: `limits.${kind}`, values: { used: amountOf(kind, known.used) } })
        }
      }
      await Promise.all(
        wishes.map(({ service, kinds }) =>
          cloud[service].quotas.set(id, Object.fromEntries(kinds.map((kind) => [cloudKinds[kind].name, inCloudUnits(kind, limits[kind] ?? null)]))),
        ),
      )
      return quotaOf(cloud, ofProject(project), requestId)
    },

    /** Asked as the cloud's administrator, of the asker's projects only: not every service tells members what they use. */
    async mine(actor: Actor, cloudId: string, requestId: string): Promise<ResponseOf<typeof calls.mine>> {
      const view = await tenancy.view(actor, cloudId)
      const cloud = view.administrator
      const { projectId: home } = await cloud.session.whoami()
      const places = view.places
        .filter(({ owner }) => owner?.bp_id === actor.bp_id)
        .map(({ keystoneId, name, owner }) => ({ keystone_project_id: keystoneId, name, project_id: owner?.project_id ?? null }))
      // What platform-level people make without an organisation is made there.
      const own = view.everything && actor.bp_id === null && home !== null ? [{ keystone_project_id: home, name: '', project_id: null }] : places
      const [items, fresh] = await Promise.all([
        Promise.all(own.map((place) => quotaOf(cloud, place, requestId))),
        ofServices((service) => defaultsOf(cloud, service, home ?? ''), requestId),
      ])
      return { items, fresh }
    },
  }
}
export type KeystoneProjects = ReturnType<typeof createKeystoneProjects>

const inCloudUnits = (kind: QuotaKind, limit: number | null): number => (limit === null ? -1 : Math.ceil(limit / (cloudKinds[kind].unit ?? 1)))

/** What nothing was set for: none of it is used. */
async function defaultsOf(cloud: OpenStack, service: QuotaService, home: string): Promise<Kinds> {
  const told = await cloud[service].quotas.defaults(home)
  return Object.fromEntries(
    quotaKinds[service].flatMap((kind) => {
      const { name, unit = 1 } = cloudKinds[kind]
      const limit = told[name]
      return limit === undefined ? [] : [[kind, { limit: limit === null ? null : limit * unit, used: 0 }]]
    }),
  )
}

/** How many of what a project holds, by what people call it; beside that its default group, which is nobody's work. */
async function contentsOf(cloud: OpenStack, id: string): Promise<{ what: string[]; groups: string[] }> {
  const query = { all_tenants: 1, project_id: id }
  const [groups, ...counts] = await Promise.all([
    collected(cloud.network.securityGroups.list({ project_id: id })),
    // Those that Nova keeps after they were deleted can still be taken back.
    counted('instances', cloud.compute.servers.list({ ...query, soft_deleted: true })),
    counted('volumes', cloud.volume.volumes.list(query)),
    counted('snapshots', cloud.volume.snapshots.list(query)),
    counted('backups', cloud.volume.backups.list(query)),
    counted('images', imagesOf(cloud, id)),
    counted('networks', cloud.network.networks.list({ project_id: id })),
    counted('routers', cloud.network.routers.list({ project_id: id })),
    counted('ports', cloud.network.ports.list({ project_id: id })),
    counted('floatingIps', cloud.network.floatingIps.list({ project_id: id })),
  ])
  const own = groups.filter(({ name }) => name !== 'default')
  return {
    what: [...counts, ...(own.length > 0 ? [held('securityGroups', own.length)] : [])].filter((text) => text !== ''),
    groups: groups.filter(({ name }) => name === 'default').map((group) => group.id),
  }
}

/** Glance leaves out what the community has, and what is hidden, unless it is asked for them. */
const imagesOf = (cloud: OpenStack, owner: string): Pages<unknown> =>
  merged([{}, { visibility: 'community' }].flatMap((query) => [false, true].map((os_hidden) => cloud.images.list({ ...query, owner, os_hidden }))))

const collected = async <T>(pages: Pages<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const page of pages) all.push(...page)
  return all
}
type Held = keyof typeof heldTexts
const held = (what: Held, count: number): string => fillText(heldTexts[what], { count })
const counted = async (what: Held, pages: Pages<unknown>): Promise<string> => {
  const { length } = await collected(pages)
  return length === 0 ? '' : held(what, length)
}

const there = async (cloud: OpenStack, id: string): Promise<Engine> => {
  try {
    return await cloud.identity.projects.get(id)
  } catch (error) {
    if (isEngineError(error, 'not_found')) throw new Refusal('notFound', { cause: error })
    throw error
  }
}
const namedOf = (id: string | null, name: string | null): { id: string; name: string } | null => (id === null ? null : { id, name: name ?? '' })

const unlessGone = (error: unknown): void => {
  if (!isEngineError(error, 'not_found')) throw error
}

const ownerName = ({ bp_name, project_name, name, state }: KeystoneProject): string =>
  state === 'owned' ? [bp_name, project_name].filter((part) => part !== null).join(' / ') : name

/** Of a row whose project is gone. */
const missingShape = (row: NamedKeystoneProject): KeystoneProject => {
  const name = nameForOwner(row)
  return { ...shape({ id: row.keystone_id, name, domainId: null, description: '', enabled: false, tags: [] }, row, null), state: 'missing', adopted: false }
}

const shape = (project: Engine, row: NamedKeystoneProject | undefined, registration: string | null): KeystoneProject => {
  const owned = row !== undefined && row.bp_name !== null && (row.project_id === null || row.project_name !== null)
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    enabled: project.enabled,
    state: owned ? 'owned' : row !== undefined || project.tags.includes(ourTag) ? 'orphaned' : 'foreign',
    registration: project.id === registration,
    bp_id: row?.bp_id ?? null,
    bp_name: row?.bp_name ?? null,
    project_id: row?.project_id ?? null,
    project_name: row?.project_name ?? null,
    adopted: owned && !project.name.startsWith(nameForOwner(row)),
    since: row?.created_at.toISOString() ?? null,
  }
}
