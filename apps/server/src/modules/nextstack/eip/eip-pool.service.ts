import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { addressNumber, addressText, overlaps } from '@zhisuan/contract/ip'
import type { EipPool, eipPools } from '@zhisuan/contract/nextstack/eip'
import { platformScope, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Db, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { inRanges } from '../vpc/vpc.store.ts'
import * as store from './eip-pool.store.ts'
import type { Range, ShownEipPool } from './eip-pool.store.ts'
import { countInPool } from './eip.store.ts'

type Calls = typeof eipPools
type Body = BodyOf<Calls['update']>

export type EipPoolService = ReturnType<typeof createEipPoolService>

export function createEipPoolService(parts: { db: Db; clouds: CloudService }) {
  const { db, clouds } = parts

  /** What a body says, checked; with what else of the cloud it may not touch. */
  const read = async (cloudId: string, body: Body) => {
    const ranges = body.ranges.map(({ from, to }) => ({ first: numberOf(from), last: numberOf(to) })).sort((left, right) => left.first - right.first)
    const excluded = [...new Set(body.excluded.map(numberOf))].sort((left, right) => left - right)
    if (ranges.some((range, index) => overlaps(range, ranges[index - 1] ?? { first: -1, last: -1 })))
      throw new Refusal('eipRangeTaken', { field: 'ranges', values: { name: body.name } })
    const vpc = await inRanges(db, cloudId, ranges)
    if (vpc !== undefined) throw new Refusal('eipRangeInVpc', { field: 'ranges', values: { name: vpc.name } })
    const organisationIds = body.public ? [] : [...new Set(body.organisation_ids)]
    const known = await store.organisationsAmong(db, organisationIds)
    const missing = organisationIds.find((id) => !known.has(id))
    if (missing !== undefined) throw new Refusal('organisationMissing', { field: 'organisation_ids', values: { name: missing } })
    const columns = {
      name: body.name,
      description: body.description,
      public: body.public,
      // The driver wants JSON as text; the type is what is read back.
      excluded: jsonb(excluded),
      max_bandwidth_mbps: body.max_bandwidth_mbps,
      address_count: sizeOf(ranges) - excluded.filter((number) => ranges.some(({ first, last }) => number >= first && number <= last)).length,
    }
    return { ranges, organisationIds, columns }
  }
  const write = async (tx: Tx, pool: { id: string; cloud_id: string }, { ranges, organisationIds }: Awaited<ReturnType<typeof read>>): Promise<void> => {
    await store.setRanges(tx, pool, ranges)
    await store.setOrganisations(tx, pool.id, organisationIds)
  }
  const taken = (cloudId: string, ranges: readonly Range[], id: string | null) => ({
    [store.poolNameIndex]: ['eipPoolNameTaken', 'name'] as const,
    [store.poolRangeRule]: async (cause: unknown) =>
      new Refusal('eipRangeTaken', { field: 'ranges', values: { name: (await store.poolWith(db, cloudId, ranges, id))?.name ?? '' }, cause }),
  })
  const get = async (id: string): Promise<EipPool> => shape(found(await store.getPool(db, platformScope, id)))

  return {
    async list(scope: Scope, query: QueryOf<Calls['list']>) {
      const { total, rows } = await store.listPools(db, scope, query)
      const pools = rows.map(shape)
      return { total, items: 'everything' in scope ? pools : pools.map(withoutInternals) }
    },

    get,

    async occupancy(id: string, { page_num, page_size }: QueryOf<Calls['occupancy']>): Promise<ResponseOf<Calls['occupancy']>> {
      const pool = found(await store.getPool(db, platformScope, id))
      const numbers = page(pool.ranges, (page_num - 1) * page_size, page_size)
      const excluded = new Set(pool.excluded)
      const holders = new Map((await store.holders(db, id, { first: numbers[0] ?? 0, last: numbers.at(-1) ?? 0 })).map((eip) => [eip.number, eip]))
      const items = numbers.map((number) => {
        const eip = holders.get(number)
        const state = eip === undefined ? (excluded.has(number) ? 'excluded' : 'free') : eip.status === 'available' ? 'allocated' : 'bound'
        return { address: addressText(number), state, eip_id: eip?.id ?? null, bp_name: eip?.bp_name ?? null } as const
      })
      return { total: sizeOf(pool.ranges), items }
    },

    async create(body: BodyOf<Calls['create']>): Promise<EipPool> {
      const id = uuidv7()
      const wish = await read(body.cloud_id, body)
      await refusing(taken(body.cloud_id, wish.ranges, null), () =>
        db.transaction().execute(async (tx) => {
          const { product } = await clouds.forChange(tx, body.cloud_id)
          if (product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'cloud_id' })
          await store.insertPool(tx, { id, cloud_id: body.cloud_id, limits_bandwidth: await store.limitsBandwidth(tx, body.cloud_id), ...wish.columns })
          await write(tx, { id, cloud_id: body.cloud_id }, wish)
        }),
      )
      return get(id)
    },

    async update(id: ParamsOf<Calls['update']>['id'], body: Body): Promise<EipPool> {
      const { cloud_id } = found(await store.getPool(db, platformScope, id))
      const wish = await read(cloud_id, body)
      await refusing(taken(cloud_id, wish.ranges, id), () =>
        db.transaction().execute(async (tx) => {
          await clouds.forChange(tx, cloud_id)
          found(await store.lockPool(tx, platformScope, id))
          await store.updatePool(tx, id, wish.columns)
          await write(tx, { id, cloud_id }, wish)
          const outside = await store.givenOutside(tx, id)
          if (outside !== undefined) throw new Refusal('eipRangeInUse', { field: 'ranges', values: { address: addressText(outside) } })
        }),
      )
      return get(id)
    },

    async delete(id: string): Promise<void> {
      const { cloud_id } = found(await store.getPool(db, platformScope, id))
      await db.transaction().execute(async (tx) => {
        await clouds.forChange(tx, cloud_id)
        found(await store.lockPool(tx, platformScope, id))
        const count = await countInPool(tx, id)
        if (count > 0) throw new Refusal('eipPoolInUse', { values: { count } })
        await store.deletePool(tx, id)
      })
    },
  }
}

/** The contract lets addresses through and nothing else. */
const numberOf = (address: string): number => addressNumber(address) ?? 0

const sizeOf = (ranges: readonly Range[]): number => ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)

/** Some of the numbers in ranges that are in order, counted from the first. */
function page(ranges: readonly Range[], from: number, count: number): number[] {
  const numbers: number[] = []
  let skip = from
  for (const { first, last } of ranges) {
    for (let number = first + skip; number <= last && numbers.length < count; number++) numbers.push(number)
    skip = Math.max(0, skip - (last - first + 1))
  }
  return numbers
}

const shape = (row: ShownEipPool): EipPool => ({
  id: row.id,
  cloud_id: row.cloud_id,
  name: row.name,
  description: row.description,
  ranges: row.ranges.map(({ first, last }) => ({ from: addressText(first), to: addressText(last) })),
  excluded: row.excluded.map(addressText),
  public: row.public,
  organisations: row.organisations,
  max_bandwidth_mbps: row.max_bandwidth_mbps,
  limits_bandwidth: row.limits_bandwidth,
  address_count: row.address_count,
  address_used: row.address_used,
  created_at: iso(row.created_at),
})

/** What a tenant may not know: which addresses there are, who else takes from it. */
const withoutInternals = (pool: EipPool): EipPool => ({ ...pool, description: '', ranges: [], excluded: [], organisations: [] })
