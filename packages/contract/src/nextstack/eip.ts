import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { compareAddresses, isAddress } from '../ip.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name } from '../validation.ts'
import { inProject, onEngine, reference } from '../resource.ts'

const address = z
  .string()
  .trim()
  .refine((text) => isAddress(text), fieldTexts.address)
const range = z
  .object({ from: address, to: address })
  .refine(({ from, to }) => compareAddresses(from, to) <= 0, { path: ['to'], message: fieldTexts.rangeBackwards })

/** Outside addresses that the platform has to give out on a cloud. IPv4. */
export const eipPool = z.object({
  id: z.uuid(),
  cloud_id: z.uuid(),
  name: z.string(),
  description: z.string(),
  ranges: z.array(z.object({ from: z.string(), to: z.string() })),
  /** Addresses within the ranges that are not given out. */
  excluded: z.array(z.string()),
  /** All organisations may take from it; else those named. */
  public: z.boolean(),
  organisations: z.array(reference),
  /** Most that one address may be given; null for no limit. */
  max_bandwidth_mbps: z.int().nullable(),
  /** False once a host of the cloud could not limit what goes through an address: until one can, bandwidth has no price there. */
  limits_bandwidth: z.boolean(),
  address_count: z.int(),
  address_used: z.int(),
  created_at: moment,
})
export type EipPool = z.output<typeof eipPool>

const poolBody = z
  .object({
    name,
    description: description.default(''),
    ranges: z.array(range).min(1, fieldTexts.rangesRequired).max(100),
    excluded: z.array(address).max(1000).default([]),
    public: z.boolean().default(true),
    organisation_ids: z.array(z.uuid()).max(1000).default([]),
    max_bandwidth_mbps: z.int().min(1, fieldTexts.bandwidth).max(100_000, fieldTexts.bandwidth).nullable().default(null),
  })
  .refine((value) => value.public || value.organisation_ids.length > 0, { path: ['organisation_ids'], message: fieldTexts.organisationsRequired })

const poolsBase = '/api/nextstack/v1/eip-pools'

export const eipPools = {
  /** Tenants see names and how many are free, not the ranges. */
  list: defineCall({
    id: 'nextstack.eipPool.list',
    method: 'GET',
    path: poolsBase,
    summary: 'Pools of outside addresses that the user may take from',
    access: tenants,
    query: listQuery(['name', 'created_at'], { cloud_id: z.uuid().optional(), keyword }),
    response: listOf(eipPool),
  }),
  get: defineCall({
    id: 'nextstack.eipPool.get',
    method: 'GET',
    path: `${poolsBase}/{id}`,
    summary: 'One pool',
    access: admins,
    params: byId,
    response: eipPool,
  }),
  occupancy: defineCall({
    id: 'nextstack.eipPool.occupancy',
    method: 'GET',
    path: `${poolsBase}/{id}/addresses`,
    summary: 'Every address of the pool and who has it, in order',
    access: admins,
    params: byId,
    query: z.object({
      page_num: z.coerce.number().int().min(1).max(1_000_000).default(1),
      page_size: z.coerce.number().int().min(1).max(1024).default(256),
    }),
    response: listOf(
      z.object({ address: z.string(), state: z.enum(['free', 'allocated', 'bound', 'excluded']), eip_id: z.uuid().nullable(), bp_name: z.string().nullable() }),
    ),
  }),
  create: defineCall({
    id: 'nextstack.eipPool.create',
    method: 'POST',
    path: poolsBase,
    summary: 'Make a pool; its ranges overlap no other pool of the cloud (94131), and no private network (94142)',
    access: admins,
    status: 201,
    body: poolBody.safeExtend({ cloud_id: z.uuid() }),
    response: eipPool,
  }),
  update: defineCall({
    id: 'nextstack.eipPool.update',
    method: 'PUT',
    path: `${poolsBase}/{id}`,
    summary: 'Change a pool; addresses that are given out stay within it (94132)',
    access: admins,
    params: byId,
    body: poolBody,
    response: eipPool,
  }),
  delete: defineCall({
    id: 'nextstack.eipPool.delete',
    method: 'DELETE',
    path: `${poolsBase}/{id}`,
    summary: 'Delete a pool of which nothing is given out (94133)',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const

export const eipStatuses = ['available', 'binding', 'bound', 'unbinding', 'error'] as const
export type EipStatus = (typeof eipStatuses)[number]
export const eipTransitional: readonly EipStatus[] = ['binding', 'unbinding']

export const eipCan = can<EipStatus>()({
  bind: ['available'],
  unbind: ['bound', 'error'],
  setBandwidth: ['available', 'bound'],
  release: ['available'],
})

/** What an address gets that is taken without a bandwidth where that has a price; less where its pool allows no more. */
export const defaultBandwidthMbps = 5

/** An outside address that an organisation has. Its name is the address where none was given. */
export const eip = z.object({
  ...onEngine,
  status: z.enum(eipStatuses),
  address: z.string(),
  pool: reference,
  /** Both ways; null for no limit. Of effect while it is bound to an instance. */
  bandwidth_mbps: z.int().nullable(),
  /** Whether the hosts can hold it to its bandwidth; where they cannot, it has no price. */
  limits_bandwidth: z.boolean(),
  /** What it leads to: an instance as a whole, or a NAT gateway's rules. */
  bound_to: z.object({ kind: z.enum(['vm', 'nat']), id: z.uuid(), name: z.string(), vpc: reference }).nullable(),
})
export type Eip = z.output<typeof eip>

const bandwidth = z.int().min(1, fieldTexts.bandwidth).max(100_000, fieldTexts.bandwidth).nullable()
const base = '/api/nextstack/v1/eips'
const one = { access: tenants, params: byId, status: 202, response: eip } as const

export const eips = {
  list: defineCall({
    id: 'nextstack.eip.list',
    method: 'GET',
    path: base,
    summary: 'Outside addresses',
    access: tenants,
    query: listQuery(['address', 'name', 'status', 'created_at'], {
      cloud_id: z.uuid().optional(),
      pool_id: z.uuid().optional(),
      status: z.enum(eipStatuses).optional(),
      vpc_id: z.uuid().optional(),
      keyword,
    }),
    response: listOf(eip),
  }),
  get: defineCall({
    id: 'nextstack.eip.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One outside address',
    access: tenants,
    params: byId,
    response: eip,
  }),
  allocate: defineCall({
    id: 'nextstack.eip.allocate',
    method: 'POST',
    path: base,
    summary: 'Take addresses from a pool: all that are asked for, or none (94134); with a bandwidth, where that has a price (94143)',
    access: tenants,
    status: 201,
    body: z
      .object({
        pool_id: z.uuid(),
        name: name.optional(),
        description: description.default(''),
        count: z.int().min(1, fieldTexts.eipCount).max(20, fieldTexts.eipCount).default(1),
        /** This one, where it is free. */
        address: address.optional(),
        /** Without: a small one where it has a price, the pool’s greatest where not. */
        bandwidth_mbps: bandwidth.default(null),
        ...inProject,
      })
      .refine((value) => value.address === undefined || value.count === 1, { path: ['count'], message: fieldTexts.eipOneAddress }),
    response: z.object({ items: z.array(eip) }),
  }),
  update: defineCall({
    ...one,
    id: 'nextstack.eip.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name, description and bandwidth, which is limited where it has a price (94143)',
    /** Left out, the bandwidth stays as it is. */
    body: z.object({ name, description: description.default(''), bandwidth_mbps: bandwidth.optional() }),
  }),
  bind: defineCall({
    ...one,
    id: 'nextstack.eip.bind',
    method: 'POST',
    path: `${base}/{id}/bind`,
    summary: 'Lead it to an instance of a private network, or give it to a NAT gateway',
    also: ({ body }) => (body === undefined ? [] : actsOn('nextstack.eip.bind', { kind: `nextstack.${body.kind}`, id: body.target_id })),
    body: z.object({ kind: z.enum(['vm', 'nat']), target_id: z.uuid() }),
  }),
  unbind: defineCall({
    ...one,
    id: 'nextstack.eip.unbind',
    method: 'POST',
    path: `${base}/{id}/unbind`,
    summary: 'Lead it nowhere; with rules of a NAT gateway on it refused (94136)',
    also: ({ params }) => actsOn('nextstack.eip.unbind', { kind: 'nextstack.vm', id: params.id, of: 'nextstack.eip' }),
  }),
  release: defineCall({
    id: 'nextstack.eip.release',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Give it back to its pool',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const
