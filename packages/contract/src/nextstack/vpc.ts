import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, listOf, listQuery } from '../define.ts'
import { isNetwork, parseCidr } from '../ip.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name } from '../validation.ts'
import { inProject, onEngine, reference } from '../resource.ts'

/**
 * `applying`: the engine is being made as wanted. `error`: that failed, `error` says why, and it
 * is tried again at the next change or `apply`. `lost`: the engine no longer has it.
 */
export const vpcStatuses = ['applying', 'active', 'deleting', 'error', 'lost'] as const
export type VpcStatus = (typeof vpcStatuses)[number]
export const vpcTransitional: readonly VpcStatus[] = ['applying', 'deleting']

export const vpcCan = can<VpcStatus>()({
  update: ['applying', 'active', 'error'],
  apply: ['active', 'error', 'lost'],
  connect: ['applying', 'active'],
  delete: ['active', 'error', 'lost'],
})

/** A private network of an organisation, apart from all others. One IPv4 range, its first address the gateway. */
export const vpc = z.object({
  ...onEngine,
  status: z.enum(vpcStatuses),
  /** 10.1.0.0/24 */
  cidr: z.string(),
  gateway: z.string(),
  dhcp: z.boolean(),
  dns_domain: z.string().nullable(),
  /** Addresses that instances may have, and how many have one. */
  address_count: z.int(),
  address_used: z.int(),
  /** Groups that guard the whole network's border. */
  security_groups: z.array(reference),
  nat: reference.nullable(),
  vm_count: z.int(),
})
export type Vpc = z.output<typeof vpc>

/** A private IPv4 range (RFC 1918, RFC 6598) of 8 to 65,536 addresses, written as its network address. */
export const vpcCidr = z
  .string()
  .trim()
  .refine((text) => parseCidr(text) !== null, { error: fieldTexts.cidr, abort: true })
  .refine((text) => isNetwork(text), { error: fieldTexts.cidrNetwork, abort: true })
  .refine(
    (text) => {
      const cidr = parseCidr(text)
      return cidr !== null && cidr.prefix >= 16 && cidr.prefix <= 29
    },
    { error: fieldTexts.cidrSize, abort: true },
  )
  .refine((text) => /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(text), fieldTexts.cidrPrivate)

const dnsDomain = z
  .string()
  .trim()
  .toLowerCase()
  .max(128)
  .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/, fieldTexts.dnsDomain)

const changeable = {
  name,
  description: description.default(''),
  dns_domain: dnsDomain.nullable().default(null),
} as const

const lease = z.object({
  address: z.string(),
  mac: z.string(),
  host_name: z.string(),
  kind: z.enum(['static', 'dynamic', 'gateway']),
  vm: reference.nullable(),
})

/** One picture of a network: what is in it, and how it is reached. */
const topology = z.object({
  vpc,
  vms: z.array(reference.extend({ status: z.string(), address: z.string().nullable(), security_groups: z.array(reference), eip: z.string().nullable() })),
  nat: z
    .object({
      id: z.uuid(),
      name: z.string(),
      snat: z.boolean(),
      snat_address: z.string().nullable(),
      rules: z.array(z.object({ id: z.uuid(), protocol: z.string(), outside: z.string(), inside: z.string() })),
    })
    .nullable(),
})

const base = '/api/nextstack/v1/vpcs'
const one = { access: tenants, params: byId, status: 202, response: vpc } as const

export const vpcs = {
  list: defineCall({
    id: 'nextstack.vpc.list',
    method: 'GET',
    path: base,
    summary: 'Private networks',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at'], {
      cloud_id: z.uuid().optional(),
      status: z.enum(vpcStatuses).optional(),
      bp_id: z.uuid().optional(),
      keyword,
    }),
    response: listOf(vpc),
  }),
  get: defineCall({
    id: 'nextstack.vpc.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One private network',
    access: tenants,
    params: byId,
    response: vpc,
  }),
  create: defineCall({
    id: 'nextstack.vpc.create',
    method: 'POST',
    path: base,
    summary: 'Make a private network; its range overlaps no other network of the cloud (94101; 94107 where what it overlaps is not to be seen)',
    access: tenants,
    status: 202,
    body: z.object({
      ...changeable,
      cloud_id: z.uuid(),
      cidr: vpcCidr,
      dhcp: z.boolean().default(true),
      /** Makes a NAT gateway with it that lets instances out. */
      snat: z.boolean().default(true),
      ...inProject,
    }),
    response: vpc,
  }),
  update: defineCall({
    ...one,
    id: 'nextstack.vpc.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name, description, DNS domain',
    body: z.object(changeable),
  }),
  setSecurityGroups: defineCall({
    ...one,
    id: 'nextstack.vpc.setSecurityGroups',
    method: 'PUT',
    path: `${base}/{id}/security-groups`,
    summary: 'Which groups guard the whole network',
    body: z.object({ security_group_ids: z.array(z.uuid()).max(10) }),
  }),
  apply: defineCall({
    ...one,
    id: 'nextstack.vpc.apply',
    method: 'POST',
    path: `${base}/{id}/apply`,
    summary: 'Make the engine as wanted once more, whatever was changed there',
  }),
  delete: defineCall({
    ...one,
    id: 'nextstack.vpc.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a private network with its NAT gateway; refused while instances are in it (94102)',
  }),
  leases: defineCall({
    id: 'nextstack.vpc.leases',
    method: 'GET',
    path: `${base}/{id}/leases`,
    summary: 'Addresses that are given out',
    access: tenants,
    params: byId,
    response: listOf(lease),
  }),
  topology: defineCall({
    id: 'nextstack.vpc.topology',
    method: 'GET',
    path: `${base}/{id}/topology`,
    summary: 'What is in it and how it is reached',
    access: tenants,
    params: byId,
    response: topology,
  }),
} as const
