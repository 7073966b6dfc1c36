import type { BodyOf } from '@zhisuan/contract/define'
import { serviceLimits, type resourceTypes as typeCalls, type ResourceType, type Service, type services as calls } from '@zhisuan/contract/iam/service'
import { readPolicy } from '@zhisuan/contract/policy/problems'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { subjectOf } from '../../../platform/auth/rules.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Limits } from '../rules/limits.ts'
import { builtInServices, builtInTypes, customService, customTypes, reservedServices, vocabularyFor } from './vocabulary.ts'
import * as store from './service.store.ts'

type Calls = typeof calls
type TypeCalls = typeof typeCalls

/** How many of the policies in the way are named. */
const namedMost = 5

const taken = { [store.serviceIndex]: ['serviceTaken', 'id'], [store.typeIndex]: ['resourceTypeTaken', 'type'] } as const

export type ServiceService = ReturnType<typeof createServiceService>

/** What policies can be about: our own calls, and applications that ask us who may do what in them. */
export function createServiceService({ db }: Pick<Platform, 'db'>, limits: Pick<Limits, 'ownerOf' | 'refuseUnknownOrganisation'>) {
  const list = async (actor: Actor): Promise<Service[]> => [...builtInServices, ...(await store.listServices(db, scopeOf(actor))).map(customService)]
  const listTypes = async (actor: Actor): Promise<ResourceType[]> => [...builtInTypes, ...(await store.listServices(db, scopeOf(actor))).flatMap(customTypes)]
  const get = async (actor: Actor, id: string): Promise<Service> => found((await list(actor)).find((service) => service.id === id))
  const getType = async (actor: Actor, id: string): Promise<ResourceType> => found((await listTypes(actor)).find((type) => type.id === id))

  /** One that the actor keeps, while nobody writes policies. @throws Refusal 404, 3000, 91162 */
  const lock = async (tx: Tx, actor: Actor, id: string): Promise<store.ShownService> => {
    if (builtInServices.some((service) => service.id === id)) throw new Refusal('serviceBuiltIn')
    await store.lockVocabulary(tx)
    const row = found(await store.getService(tx, scopeOf(actor), id))
    // The platform's are seen by all, and kept by its own administrators.
    if (!(await store.isKept(tx, scopeOf(actor), id))) throw new Refusal('noPermission')
    return row
  }

  /**
   * Changes what there is, and takes it back where a policy that was right before no longer is.
   * @throws Refusal 91161
   */
  const changing = async (tx: Tx, service: string, change: () => Promise<void>): Promise<void> => {
    const documents = await store.documentsNaming(tx, service)
    const before = await vocabularyFor(tx, null)
    await change()
    const after = await vocabularyFor(tx, null)
    const broken = [
      ...new Set(
        documents.filter(({ document }) => 'document' in readPolicy(document, before) && 'problems' in readPolicy(document, after)).map(({ name }) => name),
      ),
    ]
    if (broken.length > 0)
      throw new Refusal('vocabularyInUse', {
        values: { policies: `${broken.slice(0, namedMost).join('、')}${broken.length > namedMost ? ` 等${broken.length}个` : ''}` },
      })
  }

  /** Kinds that its actions name and that it does not have yet. */
  const addTypes = async (tx: Tx, id: string, actions: BodyOf<Calls['create']>['actions'], known: readonly string[]): Promise<void> => {
    const types = new Set(actions.map(({ name }) => name.split('.')[0] ?? ''))
    if (new Set([...types, ...known]).size > serviceLimits.resourceTypes)
      throw new Refusal('serviceFull', { field: 'actions', values: { limit: serviceLimits.resourceTypes } })
    for (const type of types) if (!known.includes(type)) await store.insertType(tx, { service_id: id, type, pattern: '{id}', description: '' })
  }

  return {
    async list(actor: Actor) {
      const items = await list(actor)
      return { total: items.length, items }
    },
    get,

    /** @throws Refusal 91160 */
    async create(actor: Actor, { id, bp_id: wish, ...content }: BodyOf<Calls['create']>): Promise<Service> {
      if (reservedServices.has(id)) throw new Refusal('serviceTaken', { field: 'id' })
      const bp_id = limits.ownerOf(actor, wish)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await limits.refuseUnknownOrganisation(tx, bp_id)
          await store.lockVocabulary(tx)
          await store.insertService(tx, { id, bp_id, created_by: actor.name, ...content })
          await addTypes(tx, id, content.actions, [])
        }),
      )
      return get(actor, id)
    },

    /** @throws Refusal 91161, 91162 */
    async update(actor: Actor, id: string, content: BodyOf<Calls['update']>): Promise<Service> {
      await db.transaction().execute(async (tx) => {
        const { types } = await lock(tx, actor, id)
        await changing(tx, id, async () => {
          await store.updateService(tx, id, content)
          await addTypes(
            tx,
            id,
            content.actions,
            types.map(({ type }) => type),
          )
        })
      })
      return get(actor, id)
    },

    /** @throws Refusal 91161, 91162 */
    async remove(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await lock(tx, actor, id)
        await changing(tx, id, () => store.deleteService(tx, id))
      })
    },

    async listTypes(actor: Actor) {
      const items = await listTypes(actor)
      return { total: items.length, items }
    },
    getType,

    /** @throws Refusal 91162, 91163, 91165 */
    async createType(actor: Actor, { service, type, ...content }: BodyOf<TypeCalls['create']>): Promise<ResourceType> {
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          const { types } = await lock(tx, actor, service)
          if (types.length >= serviceLimits.resourceTypes)
            throw new Refusal('serviceFull', { field: 'service', values: { limit: serviceLimits.resourceTypes } })
          await store.insertType(tx, { service_id: service, type, ...content })
        }),
      )
      return getType(actor, `${service}.${type}`)
    },

    /** @throws Refusal 91162 */
    async updateType(actor: Actor, id: string, content: BodyOf<TypeCalls['update']>): Promise<ResourceType> {
      const { service, type } = subjectOf({ id })
      await db.transaction().execute(async (tx) => {
        const { types } = await lock(tx, actor, service)
        found(types.find((one) => one.type === type))
        await store.updateType(tx, { service_id: service, type, ...content })
      })
      return getType(actor, id)
    },

    /** @throws Refusal 91161, 91162, 91164 */
    async removeType(actor: Actor, id: string): Promise<void> {
      const { service, type } = subjectOf({ id })
      await db.transaction().execute(async (tx) => {
        const row = await lock(tx, actor, service)
        const kind = found(customTypes(row).find((one) => one.type === type))
        if (kind.actions.length > 0) throw new Refusal('resourceTypeHasActions', { values: { actions: kind.actions.join('、') } })
        await changing(tx, service, () => store.deleteType(tx, { service_id: service, type }))
      })
    },
  }
}
