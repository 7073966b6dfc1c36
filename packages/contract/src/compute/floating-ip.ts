import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, defineCall, empty, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description } from '../validation.ts'
import { lineOf } from '../line.ts'
import { readAddress } from './address.ts'
import { cloudId, engineId, inCloud } from './ids.ts'
import { networkStatuses } from './network.ts'

/** Whether an address leads somewhere. */
export type FloatingIpUse = 'free' | 'bound'
export const floatingIpUse = ({ bound_to }: Pick<ComputeFloatingIp, 'bound_to'>): FloatingIpUse => (bound_to === null ? 'free' : 'bound')
/** What may be done to it; binding one that leads somewhere moves it. */
export const floatingIpCan = can<FloatingIpUse>()({ bind: ['free', 'bound'], unbind: ['bound'], update: ['free', 'bound'], release: ['free', 'bound'] })

const ipv4 = z
  .string(fieldTexts.address)
  .trim()
  .refine((text) => readAddress(text)?.version === 4, fieldTexts.address)

/** An address of an external network that a router leads to an address inside. */
export const computeFloatingIp = z.object({
  id: z.string(),
  address: z.string(),
  /** What the cloud made of it: `down` also where it leads nowhere. */
  status: z.enum(networkStatuses),
  /** The external network that it is from. */
  network_id: z.string(),
  /** Where it leads; null: nowhere. */
  bound_to: z
    .object({
      port_id: z.string(),
      /** Often empty: ports that instances get are called nothing. */
      port_name: z.string(),
      /** Null where the port is plugged into something else, or nothing. */
      instance_id: z.string().nullable(),
      fixed_address: z.string(),
      router_id: z.string().nullable(),
    })
    .nullable(),
  description: z.string(),
  /** Whose it is; null where the cloud does not say. */
  keystone_project_id: z.string().nullable(),
  /** Whether the asker may change it. */
  changeable: z.boolean(),
  /** Null where the cloud does not say. */
  created_at: moment.nullable(),
  updated_at: moment.nullable(),
})
export type ComputeFloatingIp = z.output<typeof computeFloatingIp>

/** Where it is to lead: a port, and which of its addresses where it has several. */
const target = { port_id: engineId, fixed_address: ipv4.optional() }
/** What it was bound to when the asker saw it; null: nothing. Somebody else may have changed that (93181). */
const from_port_id = engineId.nullable().default(null)

const base = '/api/compute/v1/clouds/{cloud_id}/floating-ips'
const one = { access: tenants, params: inCloud, response: computeFloatingIp } as const

export const computeFloatingIps = {
  list: defineCall({
    id: 'compute.floatingIp.list',
    method: 'GET',
    path: base,
    summary: 'Floating IPs of the asker, with what they lead to, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeFloatingIp),
  }),
  get: defineCall({
    ...one,
    id: 'compute.floatingIp.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One floating IP',
    response: computeFloatingIp.extend({ names: z.record(z.string(), z.string()) }),
  }),
  allocate: defineCall({
    id: 'compute.floatingIp.allocate',
    method: 'POST',
    path: base,
    summary:
      'Take addresses of an external network: all of them or none. One can be bound at once, in the project of its port; which one it is is said by platform-level people',
    also: ({ body }) =>
      body?.port_id === undefined
        ? []
        : [{ action: 'compute.floatingIp.bind' }, ...actsOn('compute.floatingIp.bind', { kind: 'compute.port', id: body.port_id })],
    access: tenants,
    status: 201,
    params: cloudId,
    body: z
      .object({
        network_id: engineId,
        count: z.int(fieldTexts.eipCount).min(1, fieldTexts.eipCount).max(20, fieldTexts.eipCount).default(1),
        address: ipv4.optional(),
        description: description.default(''),
        port_id: target.port_id.optional(),
        fixed_address: target.fixed_address,
        project_id: z.uuid().nullable().default(null),
      })
      .refine(({ count, address, port_id }) => count === 1 || (address === undefined && port_id === undefined), {
        error: fieldTexts.countOfAddress,
        path: ['count'],
      }),
    response: z.object({ items: z.array(computeFloatingIp) }),
  }),
  update: defineCall({
    ...one,
    id: 'compute.floatingIp.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change what is said of it',
    body: z.object({ description }),
  }),
  bind: defineCall({
    ...one,
    id: 'compute.floatingIp.bind',
    method: 'POST',
    path: `${base}/{id}/bind`,
    summary: 'Lead it to a port, or from one to another; a router leads from there to its network (93183)',
    also: ({ body }) => (body === undefined ? [] : actsOn('compute.floatingIp.bind', { kind: 'compute.port', id: body.port_id })),
    body: z.object({ ...target, from_port_id }),
  }),
  unbind: defineCall({
    ...one,
    id: 'compute.floatingIp.unbind',
    method: 'POST',
    path: `${base}/{id}/unbind`,
    summary: 'Lead it nowhere',
    also: ({ body }) => (body === undefined ? [] : actsOn('compute.floatingIp.unbind', { kind: 'compute.port', id: body.from_port_id })),
    body: z.object({ from_port_id: engineId }),
  }),
  release: defineCall({
    id: 'compute.floatingIp.release',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Give it back to its network; what it led to is not reached by it any more',
    access: tenants,
    params: inCloud,
    response: empty,
  }),
} as const
