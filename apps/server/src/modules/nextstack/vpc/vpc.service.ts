import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { addressNumber, addressText, overlaps, parseCidr } from '@zhisuan/contract/ip'
import { vpcCan, type Vpc, type vpcs } from '@zhisuan/contract/nextstack/vpc'
import { isEngineError } from '@zhisuan/engines/errors'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as pools from '../eip/eip-pool.store.ts'
import { shapeRule } from '../nat/nat.shape.ts'
import * as nats from '../nat/nat.store.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import * as groups from '../security-group/security-group.store.ts'
import * as addresses from './address.store.ts'
import { placesOf } from './facts.store.ts'
import type { Want } from './vpc.operations.ts'
import { usable } from './vpc.range.ts'
import * as store from './vpc.store.ts'
import type { ShownVpc, VpcRow } from './vpc.store.ts'

type Calls = typeof vpcs

export type VpcService = ReturnType<typeof createVpcService>

export function createVpcService(parts: { db: Db; clouds: CloudService; quotas: QuotaService; want: Want; wantGone: Want }) {
  const { db, clouds, quotas, want, wantGone } = parts

  const get = async (actor: Actor, id: string): Promise<ShownVpc> => found(await store.getVpc(db, scopeOf(actor), id))

  /** As it is now: once the transaction commits, the operation may end before anybody looks. */
  const shownNow = async (tx: Tx, actor: Actor, id: string): Promise<Vpc> => shape(found(await store.getVpc(tx, scopeOf(actor), id)))
  /** Changes a network in a state that allows it, and what the engine is to have of it. */
  const change = (actor: Actor, id: string, action: keyof typeof vpcCan, act: (tx: Tx, vpc: VpcRow) => Promise<void>): Promise<Vpc> =>
    db.transaction().execute(async (tx) => {
      const { cloud_id } = found(await store.getVpc(tx, scopeOf(actor), id))
      // The cloud before the network, as its removal does: in the other order the two would wait for each other.
      await clouds.forChange(tx, cloud_id)
      const vpc = found(await store.lockVpc(tx, scopeOf(actor), id))
      refuseUnless(vpcCan[action], vpc)
      await act(tx, vpc)
      return shownNow(tx, actor, id)
    })
  const nameTaken = { [store.vpcNameIndex]: ['vpcNameTaken', 'name'] } as const
  const taken = (actor: Actor, body: { cloud_id: string; cidr: string }) => ({
    ...nameTaken,
    [store.vpcRangeRule]: async () => rangeTaken(await store.overlapping(db, body.cloud_id, body.cidr), scopeOf(actor)),
  })
  /** What no rule of the database says: networks of the host, and outside addresses. */
  const refuseUsedRange = async ({ cloud_id, cidr }: { cloud_id: string; cidr: string }): Promise<void> => {
    const range = parseCidr(cidr)
    if (range === null) throw new Refusal('fieldsInvalid', { field: 'cidr' })
    const engine = await clouds.forReading(cloud_id)
    const ours = new Set(await store.engineNames(db, cloud_id))
    const other = (await engine.networks.list()).find(({ name, ipv4 }) => {
      const theirs = ipv4 === null || ours.has(name) ? null : parseCidr(ipv4)
      return theirs !== null && overlaps(range, theirs)
    })
    if (other !== undefined) throw new Refusal('cidrTaken', { field: 'cidr', values: { name: other.name } })
    if ((await pools.poolWith(db, cloud_id, [range], null)) !== undefined) throw new Refusal('cidrUnavailable', { field: 'cidr' })
  }

  return {
    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listVpcs(db, scope, query), shape),

    async get(actor: Actor, id: string): Promise<Vpc> {
      return shape(await get(actor, id))
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<Vpc> {
      refuseOwnerless(scopeOf(actor))
      await refuseUsedRange(body)
      const id = uuidv7()
      const made = authoredBy(actor)
      return refusing(taken(actor, body), () =>
        db.transaction().execute(async (tx) => {
          const { product } = await clouds.forChange(tx, body.cloud_id)
          if (product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'cloud_id' })
          const owner = await quotas.ownerOf(tx, actor, body.project_id)
          await quotas.take(tx, owner, { vpcs: 1 })
          await store.lockRanges(tx, body.cloud_id)
          // Asked before the rule is: an operation that writes to the other network would wait for us, as we for it.
          const others = await store.overlapping(tx, body.cloud_id, body.cidr)
          if (others.length > 0) throw rangeTaken(others, scopeOf(actor))
          await store.insertVpc(tx, {
            id,
            cloud_id: body.cloud_id,
            ...owner,
            name: body.name,
            description: body.description,
            engine_name: engineNameOf(id),
            cidr: body.cidr,
            dhcp: body.dhcp,
            dns_domain: body.dns_domain,
            status: 'active',
            wanted: 0,
            applying: 0,
            ...made,
          })
          await addresses.insertAddress(tx, { vpc_id: id, number: usable(body.cidr).gateway, vm_id: null })
          if (body.snat) {
            await nats.insertNat(tx, {
              id: uuidv7(),
              cloud_id: body.cloud_id,
              vpc_id: id,
              bp_id: actor.bp_id,
              name: body.name,
              description: '',
              snat: true,
              ...made,
            })
          }
          await want(tx, found(await store.lockVpc(tx, scopeOf(actor), id)), actor)
          return shownNow(tx, actor, id)
        }),
      )
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Vpc> {
      return refusing(nameTaken, () =>
        change(actor, id, 'update', async (tx, vpc) => {
          await store.updateVpc(tx, id, body)
          if (body.name !== vpc.name || body.dns_domain !== vpc.dns_domain) await want(tx, vpc, actor)
        }),
      )
    },

    async setSecurityGroups(actor: Actor, id: string, ids: readonly string[]): Promise<Vpc> {
      return db.transaction().execute(async (tx) => {
        const before = found(await store.getVpc(tx, scopeOf(actor), id))
        await clouds.forChange(tx, before.cloud_id)
        // Groups before networks, as who changes a group's rules does.
        const wished = [...new Set(ids)]
        const shared = await groups.shareGroups(tx, before, wished)
        if (shared.length < wished.length) throw new Refusal('securityGroupMissing', { field: 'security_group_ids' })
        const vpc = found(await store.lockVpc(tx, scopeOf(actor), id))
        refuseUnless(vpcCan.update, vpc)
        await store.setGroups(tx, id, shared)
        await want(tx, vpc, actor)
        return shownNow(tx, actor, id)
      })
    },

    apply: (actor: Actor, id: string): Promise<Vpc> =>
      change(actor, id, 'apply', async (tx, vpc) => {
        await want(tx, vpc, actor)
      }),

    delete: (actor: Actor, id: string): Promise<Vpc> =>
      change(actor, id, 'delete', async (tx, vpc) => {
        const count = await addresses.countVms(tx, id)
        if (count > 0) throw new Refusal('vpcInUse', { values: { count } })
        await wantGone(tx, vpc, actor)
      }),

    async leases(actor: Actor, id: string): Promise<ResponseOf<Calls['leases']>> {
      const vpc = await get(actor, id)
      const engine = await clouds.forReading(vpc.cloud_id)
      const [leases, holders] = await Promise.all([
        engine.networks.leases(vpc.engine_name).catch((error: unknown) => {
          // Not there yet, or lost.
          if (isEngineError(error, 'not_found')) return []
          throw error
        }),
        addresses.holdersOf(db, id),
      ])
      const vms = new Map(holders.map(({ number, id, name }) => [number, { id, name }]))
      const items = leases
        .filter(({ family }) => family === 4)
        .map(({ address, mac, hostName, kind }) => ({ address, mac, host_name: hostName, kind, vm: vms.get(addressNumber(address) ?? 0) ?? null }))
      return { total: items.length, items }
    },

    async topology(actor: Actor, id: string): Promise<ResponseOf<Calls['topology']>> {
      const vpc = await get(actor, id)
      const [vms, nat] = [await store.vmsOf(db, id), await nats.natOfVpc(db, id)]
      const places = new Map(
        (
          await placesOf(
            db,
            vms.map((vm) => vm.id),
          )
        ).map((place) => [place.vm_id, place]),
      )
      return {
        vpc: shape(vpc),
        vms: vms.map((vm) => {
          const place = places.get(vm.id)
          return { ...vm, address: place?.address ?? null, security_groups: place?.security_groups ?? [], eip: place?.eip?.address ?? null }
        }),
        nat:
          nat === undefined
            ? null
            : {
                id: nat.id,
                name: nat.name,
                snat: nat.snat,
                snat_address: nat.snat_eip === null ? null : addressText(nat.snat_eip.number),
                rules: nat.rules.map(shapeRule).map(({ id, protocol, eip, outside_ports, inside_address, inside_ports }) => ({
                  id,
                  protocol,
                  outside: `${eip.address}:${outside_ports}`,
                  inside: `${inside_address}:${inside_ports}`,
                })),
              },
      }
    },
  }
}

/** The engine's name for it, which becomes an interface of the host: at most 15 characters, of the part of the id that is random. */
const engineNameOf = (id: string): string => `zs-${id.slice(-12)}`

/** By its name where it may be seen. */
function rangeTaken(others: readonly Pick<VpcRow, 'name' | 'bp_id'>[], scope: Scope): Refusal {
  const seen = others.find(({ bp_id }) => 'everything' in scope || ('bp_id' in scope && bp_id === scope.bp_id))
  return seen === undefined ? new Refusal('cidrUnavailable', { field: 'cidr' }) : new Refusal('cidrTaken', { field: 'cidr', values: { name: seen.name } })
}

const shape = (row: ShownVpc): Vpc => {
  const { gateway, count } = usable(row.cidr)
  return {
    ...shapeOnEngine(row),
    status: row.status,
    cidr: row.cidr,
    gateway: addressText(gateway),
    dhcp: row.dhcp,
    dns_domain: row.dns_domain,
    address_count: count,
    address_used: row.address_used,
    security_groups: row.security_groups,
    nat: row.nat,
    vm_count: row.vm_count,
  }
}
