import { isDeepStrictEqual } from 'node:util'
import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { policies as calls, Contact, Policy, PolicyVersion } from '@zhisuan/contract/iam/policy'
import { policyLimits, type PolicyDocument } from '@zhisuan/contract/policy/document'
import { readPolicy } from '@zhisuan/contract/policy/problems'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { readDocument } from '../../../platform/auth/rules.ts'
import { iso, isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Limits } from '../rules/limits.ts'
import { holdVocabulary } from '../service/service.store.ts'
import { vocabularyFor } from '../service/vocabulary.ts'
import * as store from './policy.store.ts'

type Calls = typeof calls

/** What it names stays there until the transaction ends. @throws Refusal 91101, with a field for each place that is wrong */
async function readNaming(tx: Tx, json: unknown, bpId: string | null): Promise<PolicyDocument> {
  await holdVocabulary(tx)
  return readDocument(json, await vocabularyFor(tx, bpId))
}

const taken = { [store.policyNameIndex]: ['policyNameTaken', 'name'] } as const

export type PolicyService = ReturnType<typeof createPolicyService>

export function createPolicyService({ db }: Pick<Platform, 'db'>, limits: Limits) {
  const shape = (row: store.ShownPolicy): Policy => ({
    ...row,
    system: row.system_key !== null,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const shapeVersion = (row: Awaited<ReturnType<typeof store.versionsOf>>[number], counts: number): PolicyVersion => ({
    version: row.version,
    is_default: row.version === counts,
    document: row.document,
    created_by: row.created_by,
    created_at: iso(row.created_at),
  })
  const get = async (actor: Actor, id: string, on: Sql = db): Promise<store.ShownPolicy> => found(await store.getPolicy(on, scopeOf(actor), id))

  /** One that the actor may change. @throws Refusal 404, 91118 for what is ready-made, 3000 for the platform’s */
  const lock = async (tx: Tx, actor: Actor, id: string) => {
    if ((await get(actor, id, tx)).system_key !== null) throw new Refusal('readyMadeFixed')
    const policy = await store.lockPolicy(tx, scopeOf(actor), id)
    if (policy === undefined) throw new Refusal('noPermission')
    return policy
  }

  /** What it says changes for all who have it: as if it were given to them. */
  const count = async (tx: Tx, actor: Actor, policy: store.PolicyRow, version: number, document: PolicyDocument): Promise<void> => {
    await limits.refuseOwn(tx, actor, { policy_id: policy.id })
    if (await store.hasContacts(tx, policy.id)) {
      await limits.refuseToGive(tx, actor, [document], { policy_id: policy.id })
      const former = await store.documentOf(tx, policy)
      const gone = former.Statement.filter((statement) => !document.Statement.some((kept) => isDeepStrictEqual(kept, statement)))
      await limits.refuseToUndeny(tx, actor, [{ bp_id: policy.bp_id, document: { ...former, Statement: gone } }], { policy_id: policy.id })
    }
    await store.updatePolicy(tx, policy.id, { default_version: version })
    await limits.tell(tx)
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listPolicies(db, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const row = await get(actor, id)
      return { ...shape(row), document: await store.documentOf(db, row) }
    },

    /** @throws Refusal 91101, 91102 */
    async create(actor: Actor, { document: json, ...body }: BodyOf<Calls['create']>): Promise<Policy> {
      const id = uuidv7()
      const bp_id = limits.ownerOf(actor, body.bp_id)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await limits.refuseUnknownOrganisation(tx, bp_id)
          const document = await readNaming(tx, json, bp_id)
          await store.insertPolicy(tx, { ...body, id, bp_id, default_version: 1, last_version: 1, created_by: actor.name }, document)
        }),
      )
      return shape(await get(actor, id))
    },

    /** @throws Refusal 91102 */
    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Policy> {
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await lock(tx, actor, id)
          await store.updatePolicy(tx, id, body)
        }),
      )
      return shape(await get(actor, id))
    },

    /** @throws Refusal 91103 */
    async remove(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await lock(tx, actor, id)
        if (await store.hasContacts(tx, id)) throw new Refusal('policyInUse')
        await store.deletePolicy(tx, id)
      })
    },

    async versions(actor: Actor, id: string): Promise<ResponseOf<Calls['versions']>> {
      const { default_version } = await get(actor, id)
      const items = (await store.versionsOf(db, id)).map((row) => shapeVersion(row, default_version))
      return { total: items.length, items }
    },

    async version(actor: Actor, { id, version }: ParamsOf<Calls['version']>): Promise<PolicyVersion> {
      const { default_version } = await get(actor, id)
      return shapeVersion(found(await store.getVersion(db, id, version)), default_version)
    },

    /** @throws Refusal 91101, 91104, 91106, 91110 */
    async addVersion(actor: Actor, id: string, body: BodyOf<Calls['addVersion']>): Promise<PolicyVersion> {
      const added = await db.transaction().execute(async (tx) => {
        const policy = await lock(tx, actor, id)
        const document = await readNaming(tx, body.document, policy.bp_id)
        if ((await store.versionsOf(tx, id)).length >= policyLimits.versions) throw new Refusal('policyVersionsFull')
        const version = policy.last_version + 1
        await store.insertVersion(tx, { policy_id: id, version, document, created_by: actor.name })
        await store.updatePolicy(tx, id, { last_version: version })
        if (body.default) await count(tx, actor, policy, version, document)
        return shapeVersion(found(await store.getVersion(tx, id, version)), body.default ? version : policy.default_version)
      })
      if (body.default) await limits.changed()
      return added
    },

    /** @throws Refusal 91106, 91110 */
    async setDefault(actor: Actor, { id, version }: ParamsOf<Calls['setDefault']>): Promise<Policy> {
      await db.transaction().execute(async (tx) => {
        const policy = await lock(tx, actor, id)
        const { document } = found(await store.getVersion(tx, id, version))
        if (policy.default_version !== version) await count(tx, actor, policy, version, document)
      })
      await limits.changed()
      return shape(await get(actor, id))
    },

    /** @throws Refusal 91105 */
    async deleteVersion(actor: Actor, { id, version }: ParamsOf<Calls['deleteVersion']>): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const policy = await lock(tx, actor, id)
        found(await store.getVersion(tx, id, version))
        if (policy.default_version === version) throw new Refusal('policyVersionDefault')
        await store.deleteVersion(tx, id, version)
      })
    },

    async contacts(actor: Actor, id: string, query: QueryOf<Calls['contacts']>): Promise<ResponseOf<Calls['contacts']>> {
      await get(actor, id)
      return shapedPage(store.listContacts(db, scopeOf(actor), id, query), (row) => ({
        ...row,
        kind: row.kind as Contact['kind'],
        since: isoOrNull(row.since),
      }))
    },

    async check(actor: Actor, json: unknown): Promise<ResponseOf<Calls['check']>> {
      const answer = readPolicy(json, await vocabularyFor(db, actor.bp_id))
      return { problems: 'problems' in answer ? answer.problems.map(({ path, message }) => ({ path: [...path], message })) : [] }
    },
  }
}
