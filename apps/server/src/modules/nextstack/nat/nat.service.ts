import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { addressNumber, addressText } from '@zhisuan/contract/ip'
import type { NatGateway, natGateways } from '@zhisuan/contract/nextstack/nat'
import { vpcCan } from '@zhisuan/contract/nextstack/vpc'
import { authoredBy, platformScope, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as eips from '../eip/eip.store.ts'
import { holdVm, placeOf } from '../vpc/address.store.ts'
import type { Want } from '../vpc/vpc.operations.ts'
import { usable } from '../vpc/vpc.range.ts'
import * as vpcs from '../vpc/vpc.store.ts'
import type { VpcRow } from '../vpc/vpc.store.ts'
import { shapeNat } from './nat.shape.ts'
import * as store from './nat.store.ts'
import type { NatGatewayRow } from './nat.store.ts'

type Calls = typeof natGateways

export type NatService = ReturnType<typeof createNatService>

export function createNatService(parts: { db: Db; clouds: CloudService; want: Want }) {
  const { db, clouds, want } = parts

  /** As it is now: once the transaction commits, the operation may end before anybody looks. */
  const shownNow = async (tx: Tx, actor: Actor, id: string): Promise<NatGateway> => shapeNat(found(await store.getNat(tx, scopeOf(actor), id)))
  /** Changes a gateway that stays, with its network held, and before it the instance that something is to lead to. */
  const change = (actor: Actor, id: string, act: (tx: Tx, nat: NatGatewayRow, vpc: VpcRow) => Promise<void>, vmId: string | null = null): Promise<NatGateway> =>
    db.transaction().execute(async (tx) => {
      const { cloud_id, vpc_id } = found(await store.getNatRow(tx, scopeOf(actor), id))
      await clouds.forChange(tx, cloud_id)
      if (vmId !== null) await holdVm(tx, vmId)
      const vpc = found(await vpcs.lockVpc(tx, scopeOf(actor), vpc_id))
      const nat = found(await store.getNatRow(tx, scopeOf(actor), id))
      if (nat.deleting_at !== null || vpc.status === 'deleting') throw new Refusal('stateForbids')
      await act(tx, nat, vpc)
      return shownNow(tx, actor, id)
    })

  const taken = (vpcId: string) => ({
    [store.natVpcIndex]: async (cause: unknown) =>
      new Refusal('natTaken', { field: 'vpc_id', values: { name: (await store.natOfVpc(db, vpcId))?.name ?? '' }, cause }),
  })

  /** One of the organisation's addresses, which the gateway has or now gets. With the network held. */
  const giveEip = async (
    tx: Tx,
    nat: Pick<NatGatewayRow, 'id' | 'cloud_id' | 'bp_id' | 'vpc_id'>,
    eipId: string,
    field: string,
    changedAtWanted: number,
  ): Promise<void> => {
    const eip = await eips.lockEip(tx, platformScope, eipId)
    if (eip === undefined || eip.bp_id !== nat.bp_id) throw new Refusal('notFound', { field })
    const has = eip.nat_id === nat.id && !eip.unbinding
    if (!has && (eip.status !== 'available' || eip.cloud_id !== nat.cloud_id))
      throw new Refusal('eipAddressTaken', { field, values: { address: addressText(eip.number) } })
    if (!has) await eips.bindEip(tx, eip.id, { nat_id: nat.id, vpc_id: nat.vpc_id, changed_at_wanted: changedAtWanted })
  }

  return {
    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listNats(db, scope, query), shapeNat),

    async get(actor: Actor, id: string): Promise<NatGateway> {
      return shapeNat(found(await store.getNat(db, scopeOf(actor), id)))
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<NatGateway> {
      const id = uuidv7()
      return refusing(taken(body.vpc_id), () =>
        db.transaction().execute(async (tx) => {
          const before = await vpcs.getVpc(tx, scopeOf(actor), body.vpc_id)
          if (before === undefined) throw new Refusal('vpcMissing', { field: 'vpc_id' })
          await clouds.forChange(tx, before.cloud_id)
          const vpc = found(await vpcs.lockVpc(tx, scopeOf(actor), body.vpc_id))
          refuseUnless(vpcCan.update, vpc)
          const { cloud_id, bp_id } = vpc
          await store.insertNat(tx, {
            id,
            cloud_id,
            vpc_id: vpc.id,
            bp_id,
            name: body.name,
            description: body.description,
            snat: body.snat,
            ...authoredBy(actor),
          })
          const wanted = await want(tx, vpc, actor)
          if (body.snat_eip_id !== null) {
            await giveEip(tx, { id, cloud_id, bp_id, vpc_id: vpc.id }, body.snat_eip_id, 'snat_eip_id', wanted)
            await store.updateNat(tx, id, { snat_eip_id: body.snat_eip_id })
          }
          return shownNow(tx, actor, id)
        }),
      )
    },

    update: (actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<NatGateway> =>
      change(actor, id, async (tx, nat, vpc) => {
        if (body.snat !== nat.snat || body.snat_eip_id !== nat.snat_eip_id) {
          refuseUnless(vpcCan.update, vpc)
          const wanted = await want(tx, vpc, actor)
          if (body.snat_eip_id !== null) await giveEip(tx, nat, body.snat_eip_id, 'snat_eip_id', wanted)
        }
        await store.updateNat(tx, id, body)
      }),

    delete: (actor: Actor, id: string): Promise<NatGateway> =>
      change(actor, id, async (tx, _, vpc) => {
        const wanted = await want(tx, vpc, actor)
        await eips.unbindEips(tx, { nat_id: id }, wanted)
        await store.updateNat(tx, id, { deleting_at: wanted })
      }),

    async addRule(actor: Actor, id: string, body: BodyOf<Calls['addRule']>): Promise<NatGateway> {
      const outside = portsOf(body.outside_ports)
      const inside = portsOf(body.inside_ports ?? body.outside_ports)
      if (inside.first !== inside.last && inside.last - inside.first !== outside.last - outside.first)
        throw new Refusal('natPortsDiffer', { field: 'inside_ports' })
      return refusing({ [store.natPortsRule]: ['natPortTaken', 'outside_ports'] }, () =>
        change(
          actor,
          id,
          async (tx, nat, vpc) => {
            refuseUnless(vpcCan.update, vpc)
            const wanted = await want(tx, vpc, actor)
            await giveEip(tx, nat, body.eip_id, 'eip_id', wanted)
            await store.insertRule(tx, {
              id: uuidv7(),
              nat_id: id,
              eip_id: body.eip_id,
              protocol: body.protocol,
              outside_first: outside.first,
              outside_last: outside.last,
              inside: await targetOf(tx, vpc, body),
              inside_first: inside.first,
              inside_last: inside.last,
              vm_id: body.vm_id,
              description: body.description,
            })
          },
          body.vm_id,
        ),
      )
    },

    removeRule: (actor: Actor, id: string, ruleId: string): Promise<NatGateway> =>
      change(actor, id, async (tx, _, vpc) => {
        if (!(await store.deleteRule(tx, id, ruleId))) throw new Refusal('notFound')
        await want(tx, vpc, actor)
      }),
  }
}

/** First and last of `80` or `8000-8010`. */
function portsOf(text: string): { first: number; last: number } {
  const [first = 0, last = first] = text.split('-').map(Number)
  return { first, last }
}

/** The address inside, in the gateway's own network. */
async function targetOf(tx: Tx, vpc: VpcRow, { vm_id, inside_address }: { vm_id: string | null; inside_address: string | null }): Promise<number> {
  if (vm_id !== null) {
    const member = await placeOf(tx, vm_id)
    if (member?.vpc_id !== vpc.id || member.left_at !== null) throw new Refusal('natTargetOutside', { field: 'vm_id' })
    return member.number
  }
  const { first, last } = usable(vpc.cidr)
  const number = inside_address === null ? null : addressNumber(inside_address)
  if (number === null || number < first || number > last) throw new Refusal('natTargetOutside', { field: 'inside_address' })
  return number
}
