import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { ruleTemplates, type SecurityGroup, type SecurityRule, type securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOwned } from '../../../platform/resource.shape.ts'
import type { Want } from '../vpc/vpc.operations.ts'
import { lockVpcs } from '../vpc/vpc.store.ts'
import * as store from './security-group.store.ts'
import type { ShownSecurityGroup } from './security-group.store.ts'

type Calls = typeof securityGroups

export type SecurityGroupService = ReturnType<typeof createSecurityGroupService>

export function createSecurityGroupService(parts: { db: Db; clouds: CloudService; quotas: QuotaService; want: Want }) {
  const { db, clouds, quotas, want } = parts

  const get = async (actor: Actor, id: string): Promise<ShownSecurityGroup> => found(await store.getGroup(db, scopeOf(actor), id))

  return {
    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listGroups(db, scope, query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const row = await get(actor, id)
      return { ...shape(row), ...(await store.guardedBy(db, id)) }
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<SecurityGroup> {
      refuseOwnerless(scopeOf(actor))
      const id = uuidv7()
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          const { product } = await clouds.forChange(tx, body.cloud_id)
          if (product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'cloud_id' })
          const owner = await quotas.ownerOf(tx, actor, body.project_id)
          await quotas.take(tx, owner, { security_groups: 1 })
          await store.insertGroup(tx, {
            id,
            cloud_id: body.cloud_id,
            ...owner,
            name: body.name,
            description: body.description,
            rules: jsonb<SecurityRule[]>([...(body.rules ?? ruleTemplates[body.template])]),
            ...authoredBy(actor),
          })
        }),
      )
      return shape(await get(actor, id))
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<SecurityGroup> {
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          const { cloud_id } = found(await store.getGroup(tx, scopeOf(actor), id))
          await clouds.forChange(tx, cloud_id)
          found(await store.lockGroup(tx, scopeOf(actor), id))
          await store.updateGroup(tx, id, body)
        }),
      )
      return shape(await get(actor, id))
    },

    /** Whatever it guards is made so. @throws Refusal 90012 where somebody else changed them since that revision */
    async setRules(actor: Actor, id: string, { revision, rules }: BodyOf<Calls['setRules']>): Promise<SecurityGroup> {
      return db.transaction().execute(async (tx) => {
        const { cloud_id } = found(await store.getGroup(tx, scopeOf(actor), id))
        await clouds.forChange(tx, cloud_id)
        const group = found(await store.lockGroup(tx, scopeOf(actor), id))
        if (group.revision !== revision) throw new Refusal('changedMeanwhile')
        await store.updateGroup(tx, id, { rules: jsonb(rules), revision: revision + 1 })
        for (const vpc of await lockVpcs(tx, await store.vpcsGuardedBy(tx, id))) await want(tx, vpc, actor)
        // As it is now: once this commits, all may be applied before anybody looks.
        return shape(found(await store.getGroup(tx, scopeOf(actor), id)))
      })
    },

    async delete(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const { cloud_id } = found(await store.getGroup(tx, scopeOf(actor), id))
        await clouds.forChange(tx, cloud_id)
        found(await store.lockGroup(tx, scopeOf(actor), id))
        const { vms, vpcs } = await store.guardedBy(tx, id)
        const count = vms.length + vpcs.length
        if (count > 0) throw new Refusal('securityGroupInUse', { values: { count } })
        await store.deleteGroup(tx, id)
      })
    },
  }
}

const taken = { [store.groupNameIndex]: ['securityGroupNameTaken', 'name'] } as const

const shape = (row: ShownSecurityGroup): SecurityGroup => ({
  ...shapeOwned(row),
  cloud_id: row.cloud_id,
  status: row.failed ? 'error' : row.applying ? 'applying' : 'active',
  error: row.error_text,
  rules: row.rules,
  revision: row.revision,
  vm_count: row.vm_count,
  vpc_count: row.vpc_count,
})
