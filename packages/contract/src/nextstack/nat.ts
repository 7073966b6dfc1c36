import { z } from 'zod'
import { actsOn, byId, defineCall, listOf, listQuery } from '../define.ts'
import { isAddress } from '../ip.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name } from '../validation.ts'
import { onEngine, reference } from '../resource.ts'

/** As of the network that it belongs to: see vpc.ts. */
export const natStatuses = ['applying', 'active', 'deleting', 'error'] as const

/** `80`, or `8000-8010`. */
const portRange = z
  .string()
  .trim()
  .regex(/^\d{1,5}(-\d{1,5})?$/, fieldTexts.portRange)
  .refine((text) => {
    const [from = 0, to = from] = text.split('-').map(Number)
    return from >= 1 && to <= 65_535 && from <= to && to - from < 1000
  }, fieldTexts.portRange)

const ruleBody = z
  .object({
    eip_id: z.uuid(),
    protocol: z.enum(['tcp', 'udp']),
    outside_ports: portRange,
    /** An instance of the network, or an address in it. */
    vm_id: z.uuid().nullable().default(null),
    inside_address: z
      .string()
      .trim()
      .refine((text) => isAddress(text), fieldTexts.address)
      .nullable()
      .default(null),
    /** One for all, or as many as outside; left out: the same. */
    inside_ports: portRange.nullable().default(null),
    description: description.default(''),
  })
  .refine((rule) => (rule.vm_id === null) !== (rule.inside_address === null), { path: ['vm_id'], message: fieldTexts.natTarget })

export const dnatRule = z.object({
  id: z.uuid(),
  eip: z.object({ id: z.uuid(), address: z.string() }),
  protocol: z.enum(['tcp', 'udp']),
  outside_ports: z.string(),
  inside_address: z.string(),
  inside_ports: z.string(),
  vm: reference.nullable(),
  description: z.string(),
})
export type DnatRule = z.output<typeof dnatRule>

/** The way between a private network and the outside: one for each network. */
export const natGateway = z.object({
  ...onEngine,
  status: z.enum(natStatuses),
  vpc: reference,
  /** Instances reach the outside. */
  snat: z.boolean(),
  /** With this address; null for the host's. */
  snat_eip: z.object({ id: z.uuid(), address: z.string() }).nullable(),
  rules: z.array(dnatRule),
})
export type NatGateway = z.output<typeof natGateway>

const settings = { name, description: description.default(''), snat: z.boolean(), snat_eip_id: z.uuid().nullable().default(null) } as const
const base = '/api/nextstack/v1/nat-gateways'
const one = { access: tenants, params: byId, status: 202, response: natGateway } as const

export const natGateways = {
  list: defineCall({
    id: 'nextstack.nat.list',
    method: 'GET',
    path: base,
    summary: 'NAT gateways',
    access: tenants,
    query: listQuery(['name', 'created_at'], { cloud_id: z.uuid().optional(), vpc_id: z.uuid().optional(), keyword }),
    response: listOf(natGateway),
  }),
  get: defineCall({
    id: 'nextstack.nat.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One NAT gateway',
    access: tenants,
    params: byId,
    response: natGateway,
  }),
  create: defineCall({
    id: 'nextstack.nat.create',
    method: 'POST',
    path: base,
    summary: 'Give a network a NAT gateway; it may have one (94121)',
    also: ({ body }) => (body?.snat_eip_id == null ? [] : [{ action: 'nextstack.eip.bind', on: { kind: 'nextstack.eip', id: body.snat_eip_id } }]),
    access: tenants,
    status: 202,
    body: z.object({ ...settings, vpc_id: z.uuid() }),
    response: natGateway,
  }),
  update: defineCall({
    ...one,
    id: 'nextstack.nat.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name, description, and how instances get out',
    also: ({ body }) => (body?.snat_eip_id == null ? [] : [{ action: 'nextstack.eip.bind', on: { kind: 'nextstack.eip', id: body.snat_eip_id } }]),
    body: z.object(settings),
  }),
  delete: defineCall({
    ...one,
    id: 'nextstack.nat.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete with its rules; its addresses become free to bind',
  }),
  addRule: defineCall({
    ...one,
    id: 'nextstack.nat.addRule',
    method: 'POST',
    path: `${base}/{id}/rules`,
    summary: 'Lead ports of an EIP to an instance (DNAT)',
    also: ({ body }) =>
      body === undefined
        ? []
        : [
            { action: 'nextstack.eip.bind', on: { kind: 'nextstack.eip', id: body.eip_id } },
            ...(body.vm_id === null ? [] : actsOn('nextstack.nat.addRule', { kind: 'nextstack.vm', id: body.vm_id })),
          ],
    body: ruleBody,
  }),
  removeRule: defineCall({
    ...one,
    id: 'nextstack.nat.removeRule',
    method: 'DELETE',
    path: `${base}/{id}/rules/{rule_id}`,
    summary: 'Remove a rule',
    params: byId.extend({ rule_id: z.uuid() }),
  }),
} as const
