import { z } from 'zod'
import { defineCall, empty } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { lineOf } from '../line.ts'
import { description, name } from '../validation.ts'
import { cloudId, engineId, inCloud } from './ids.ts'
import { engineName, networkStatuses, routeList } from './network.ts'

/** Joins networks with each other, and by its gateway with an external network. */
export const computeRouter = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(networkStatuses),
  enabled: z.boolean(),
  /** Where it leads out; `snat`: what is behind it shares its address. */
  gateway: z.object({ network_id: z.string(), snat: z.boolean(), addresses: z.array(z.string()) }).nullable(),
  /** Ports by which it is in networks. */
  interfaces: z.array(
    z.object({ port_id: z.string(), network_id: z.string(), addresses: z.array(z.object({ address: z.string(), subnet_id: z.string().nullable() })) }),
  ),
  routes: z.array(z.object({ destination: z.string(), next_hop: z.string() })),
  /** Whose it is; null where the cloud does not say. */
  keystone_project_id: z.string().nullable(),
  /** Whether the asker may change it. */
  changeable: z.boolean(),
})
export type ComputeRouter = z.output<typeof computeRouter>

/** By a subnet it takes that one's gateway address; by a port, that port with its addresses. */
const joined = z
  .object({ subnet_id: engineId.optional(), port_id: engineId.optional() })
  .refine(({ subnet_id, port_id }) => (subnet_id === undefined) !== (port_id === undefined), { error: fieldTexts.subnetOrPort, path: ['subnet_id'] })

const gateway = z.object({
  network_id: engineId,
  /** Left out: as the cloud does it. For platform-level people. */
  snat: z.boolean().optional(),
})

const base = '/api/compute/v1/clouds/{cloud_id}/routers'
const one = { access: tenants, params: inCloud, response: computeRouter } as const

export const computeRouters = {
  list: defineCall({
    id: 'compute.router.list',
    method: 'GET',
    path: base,
    summary: 'Routers of the asker, with what they join, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeRouter),
  }),
  get: defineCall({
    ...one,
    id: 'compute.router.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One router',
    response: computeRouter.extend({ names: z.record(z.string(), z.string()) }),
  }),
  create: defineCall({
    id: 'compute.router.create',
    method: 'POST',
    path: base,
    summary: 'Make a router, with a gateway and joined subnets if wanted: all of it or nothing',
    access: tenants,
    status: 201,
    params: cloudId,
    body: z.object({
      name,
      description: description.default(''),
      gateway: gateway.nullable().default(null),
      subnet_ids: z.array(engineId).max(20).default([]),
      project_id: z.uuid().nullable().default(null),
    }),
    response: computeRouter,
  }),
  update: defineCall({
    ...one,
    id: 'compute.router.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change what is given',
    body: z.object({ name: engineName, description, enabled: z.boolean() }).partial(),
  }),
  setGateway: defineCall({
    ...one,
    id: 'compute.router.setGateway',
    method: 'PUT',
    path: `${base}/{id}/gateway`,
    summary: 'Lead out through an external network',
    body: gateway,
  }),
  clearGateway: defineCall({
    ...one,
    id: 'compute.router.clearGateway',
    method: 'DELETE',
    path: `${base}/{id}/gateway`,
    summary: 'Lead out no more; refused while floating IPs need it (93129)',
  }),
  addInterface: defineCall({
    ...one,
    id: 'compute.router.addInterface',
    method: 'POST',
    path: `${base}/{id}/interfaces`,
    summary: 'Join a subnet, or by a port; its range overlaps none that is joined already (93128)',
    body: joined,
  }),
  removeInterface: defineCall({
    ...one,
    id: 'compute.router.removeInterface',
    method: 'POST',
    path: `${base}/{id}/interfaces/remove`,
    summary: 'Leave a subnet, or take a port away; refused while floating IPs or routes need it (93129)',
    body: joined,
  }),
  setRoutes: defineCall({
    ...one,
    id: 'compute.router.setRoutes',
    method: 'PUT',
    path: `${base}/{id}/routes`,
    summary: 'All static routes; each next hop lies in a joined subnet (93130)',
    body: z.object({ routes: routeList }),
  }),
  delete: defineCall({
    id: 'compute.router.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a router; refused while it joins subnets (93127)',
    access: tenants,
    params: inCloud,
    response: empty,
  }),
} as const
