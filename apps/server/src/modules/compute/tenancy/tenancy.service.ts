import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { KeystoneProject } from '@zhisuan/engines/openstack/identity'
import { all, type Query } from '@zhisuan/engines/openstack/session'
import { platformScope, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { forgetDeletedProject, isDeleted, type Telling } from './project.problems.ts'
import * as store from './tenancy.store.ts'
import type { NamedKeystoneProject, Owner } from './tenancy.store.ts'

/** Where one of ours is on a cloud: a Keystone project, and the cloud as seen from within it. */
export interface Place {
  readonly keystoneId: string
  /** What the project is to people: the organisation, and its project where it is one's. */
  readonly name: string
  /** Null: nobody's of ours; then the cloud is seen as its registration sees it. */
  readonly owner: Owner | null
  readonly cloud: OpenStack
}

/** A cloud as somebody sees it. */
export interface View {
  /** The cloud's administrator: of everything, for what is nobody's. */
  readonly administrator: OpenStack
  /** Platform-level people see all projects of the cloud, ours or not. */
  readonly everything: boolean
  /** What Nova and Cinder want to be told to list all projects; nothing where the registration is no administrator's, which they would refuse. */
  readonly allTenants: Query
  /** The projects of the asker; of platform-level people, all of ours. */
  readonly places: readonly Place[]
}

export type WholeTenancy = ReturnType<typeof createTenancy>
/** What resources stand on; all else is for what projects themselves are about. */
export type Tenancy = Pick<WholeTenancy, 'view' | 'viewForChange' | 'inside' | 'placeForMaking'>

/** The role that those have who only use a cloud: with a stronger one, its services would not keep projects apart. */
const memberRole = 'member'
/** Of the projects that we make, so that they are known again. */
export const ourTag = 'zhisuan'
/** What the project that we make for somebody is called. */
export const nameForOwner = (owner: Owner): string => `zhisuan-${owner.project_id ?? owner.bp_id}`

/** By the roles of its account, as metering reads them too. */
const isAdministrator = async ({ session }: OpenStack): Promise<boolean> => (await session.whoami()).roles.some((role) => /admin/i.test(role))

/**
 * Which Keystone project is whose. Each organisation and each of its projects has one of its own on a cloud, made
 * when it first needs one; calls of a tenant are made with a token for it, so what is another's does not exist there.
 */
export function createTenancy(
  parts: Pick<Platform, 'db' | 'now'> & Telling & { clouds: CloudService; mayMake: (tx: Tx, bpId: string, what: 'costs' | 'free') => Promise<void> },
) {
  const { db, now, clouds } = parts
  /** Tokens, and what several look at, live as long as the client of their cloud does. */
  const seen = new WeakMap<OpenStack, Map<string, OpenStack>>()
  const within = (administrator: OpenStack, keystoneId: string): OpenStack => {
    const known = seen.get(administrator) ?? new Map<string, OpenStack>()
    seen.set(administrator, known)
    const there = known.get(keystoneId)
    if (there !== undefined) return there
    if (administrator.session.ownProjectOnly) throw new Refusal('cloudSingleProject')
    const place = administrator.within({ id: keystoneId })
    known.set(keystoneId, place)
    return place
  }

  const viewOf = async (actor: Actor, cloudId: string, administrator: OpenStack): Promise<View> => {
    const scope = scopeOf(actor)
    const everything = 'everything' in scope
    // What it has elsewhere, from before it was registered anew, cannot be seen by an application credential.
    const rows = administrator.session.ownProjectOnly ? [] : await store.keystoneProjects(db, scope, cloudId)
    return {
      administrator,
      everything,
      allTenants: everything && (await isAdministrator(administrator)) ? { all_tenants: 1 } : {},
      places: rows.map((row) => ({
        keystoneId: row.keystone_id,
        name: nameOf(row),
        owner: { bp_id: row.bp_id, project_id: row.project_id },
        cloud: within(administrator, row.keystone_id),
      })),
    }
  }

  /** Our user may act within a project; done already is done. @returns the project of the registration */
  const joining = async (administrator: OpenStack): Promise<{ home: KeystoneProject; join: (keystoneId: string) => Promise<void> }> => {
    const { identity } = administrator
    // With an administrator's role it could make projects, but never act within them.
    if (administrator.session.ownProjectOnly) throw new Refusal('cloudSingleProject')
    const { userId, projectId } = await administrator.session.whoami()
    if (projectId === null) throw new Refusal('cloudSingleProject')
    const [home, roles] = await Promise.all([identity.projects.get(projectId), all(identity.roles.list({ name: memberRole }))])
    const role = roles.find(({ name }) => name.toLowerCase() === memberRole)
    if (role === undefined || home.domainId === null) throw new Refusal('cloudSingleProject')
    return { home, join: (keystoneId) => identity.roles.grant({ projectId: keystoneId, userId, roleId: role.id }) }
  }
  /** Who may not make projects is registered by an account that is no administrator, or by an application credential. */
  const asAdministrator = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act()
    } catch (error) {
      if (isEngineError(error, 'unauthorized')) throw new Refusal('cloudSingleProject', { cause: error })
      throw error
    }
  }

  /**
   * Found again by its name where whoever made it was killed before they could say so; asked for twice at once, it is one.
   * Made anew where somebody has deleted it in Keystone: what it held is lost to its owner either way.
   */
  const ensure = async (cloudId: string, administrator: OpenStack, owner: Owner): Promise<string> => {
    const known = await store.keystoneProjectOf(db, cloudId, owner)
    if (known !== undefined && !(await isDeleted(administrator, known))) return known.keystone_id
    return asAdministrator(async () => {
      const { home, join } = await joining(administrator)
      for (let attempt = 1; ; attempt += 1) {
        const name = `${nameForOwner(owner)}${attempt === 1 ? '' : `-${attempt}`}`
        const made = await administrator.identity.projects.ensure({ name, domainId: home.domainId ?? '', tags: [ourTag] })
        await join(made.id)
        await db.transaction().execute(async (tx) => {
          if (known !== undefined) await forgetDeletedProject(tx, parts, cloudId, known.keystone_id, now())
          await store.insertKeystoneProject(tx, { cloud_id: cloudId, keystone_id: made.id, ...owner })
        })
        // Somebody else may have adopted the one of that name: then it is theirs, whatever it is called.
        const own = await store.keystoneProjectOf(db, cloudId, owner)
        if (own !== undefined) return own.keystone_id
      }
    })
  }

  /** An organisation, or its project, by what people call it. @throws Refusal 94167, `projectMissing` */
  const ownerNamed = async (wish: { organisation: string; project: string | null }): Promise<Owner> => {
    const organisation = await store.organisationNamed(db, wish.organisation)
    if (organisation === undefined) throw new Refusal('organisationMissing', { field: 'organisation', values: { name: wish.organisation } })
    if (wish.project === null) return { bp_id: organisation.id, project_id: null }
    const project = await store.projectNamed(db, organisation.id, wish.project)
    if (project === undefined) throw new Refusal('projectMissing', { field: 'project' })
    return { bp_id: organisation.id, project_id: project.id }
  }

  return {
    /** Lets our user act within a project that is to be somebody's of ours. @throws Refusal `cloudSingleProject` */
    join: (administrator: OpenStack, keystoneId: string): Promise<void> => asAdministrator(async () => (await joining(administrator)).join(keystoneId)),

    /**
     * The Keystone project of another, who is to be offered something. Tenants are told the same of an organisation, a
     * project and a Keystone project that is not there, and nothing is made for others whom they name.
     * @throws Refusal `computeOfferMissing`; of platform-level people 94167, `projectMissing`
     */
    async projectOfNamed(actor: Actor, cloudId: string, view: View, wish: { organisation: string; project: string | null }): Promise<string> {
      if (view.everything) return ensure(cloudId, view.administrator, await ownerNamed(wish))
      const owner = await ownerNamed(wish).catch((error: unknown) => {
        if (error instanceof Refusal) return null
        throw error
      })
      if (owner !== null && owner.bp_id === actor.bp_id) return ensure(cloudId, view.administrator, owner)
      const known = owner === null ? undefined : await store.keystoneProjectOf(db, cloudId, owner)
      if (known === undefined) throw new Refusal('computeOfferMissing', { field: 'organisation' })
      return known.keystone_id
    },

    /** What all projects of ours are called, whosever they are: for what the asker may know of them. */
    namesOfAll: async (cloudId: string): Promise<ReadonlyMap<string, string>> =>
      new Map((await store.keystoneProjects(db, platformScope, cloudId)).map((row) => [row.keystone_id, nameOf(row)])),

    /** The cloud as a project sees it; of null as its registration does. For what was allowed before. */
    cloudOf: async (cloudId: string, keystoneId: string | null): Promise<OpenStack> => {
      const administrator = await clouds.openStack(cloudId)
      return keystoneId === null ? administrator : within(administrator, keystoneId)
    },

    /** To read from: what several look at is asked once. @throws Refusal notFound, 12006 */
    view: async (actor: Actor, cloudId: string): Promise<View> => {
      const view = await viewOf(actor, cloudId, await clouds.openStack(cloudId))
      return {
        ...view,
        administrator: view.administrator.sharing(),
        places: view.places.map((place) => ({ ...place, cloud: place.cloud.sharing() })),
      }
    },

    /** To change something that is there. @throws Refusal notFound, 12005, 12006 */
    viewForChange: async (actor: Actor, cloudId: string): Promise<View> => viewOf(actor, cloudId, await clouds.openStackForChange(cloudId)),

    /** The platform's own work in a project of a cloud: null is what is nobody's of ours. @throws Refusal notFound, 12005, 12006 */
    async inside(cloudId: string, keystoneId: string | null): Promise<OpenStack> {
      const administrator = await clouds.openStackForChange(cloudId)
      return keystoneId === null ? administrator : within(administrator, keystoneId)
    },

    /**
     * Where something new is made: the asker's own, or that of their organisation's project. Of platform-level people
     * without an organisation it is the project of the registration.
     * @throws Refusal notFound, 12005, 12006, 24011, 24018, 96043, `projectMissing`, `cloudSingleProject`
     */
    async placeForMaking(actor: Actor, cloudId: string, projectId: string | null, what: 'costs' | 'free' = 'costs'): Promise<Place> {
      refuseOwnerless(scopeOf(actor))
      const administrator = await clouds.openStackForChange(cloudId)
      const { bp_id } = actor
      if (bp_id === null) {
        if (projectId !== null) throw new Refusal('projectMissing', { field: 'project_id' })
        const { projectId: own } = await administrator.session.whoami()
        return { keystoneId: found(own), name: '', owner: null, cloud: administrator }
      }
      const owner = { bp_id, project_id: projectId }
      if (projectId !== null && (await store.projectOfOrganisation(db, owner)) === undefined) throw new Refusal('projectMissing', { field: 'project_id' })
      await db.transaction().execute((tx) => parts.mayMake(tx, bp_id, what))
      const keystoneId = await ensure(cloudId, administrator, owner)
      return { keystoneId, name: '', owner, cloud: within(administrator, keystoneId) }
    },
  }
}

const nameOf = (row: NamedKeystoneProject): string => [row.bp_name, row.project_name].filter((name) => name !== null).join(' / ')
