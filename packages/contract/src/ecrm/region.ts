import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import type { Kind } from '../kind.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine } from '../validation.ts'

/** ISO 3166-1 alpha-2. */
export const nationCode = z.string().regex(/^[A-Z]{2}$/, fieldTexts.nation)
/** GB/T 2260: six digits, of a province, a city or a county. */
export const divisionCode = z.string().regex(/^\d{6}$/, fieldTexts.division)

const about = { name, description: description.default('') } as const

/** Where sites are: the largest unit of the edge. */
export const region = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  nation: nationCode,
  nation_name: z.string(),
  site_count: z.int(),
  edge_count: z.int(),
  created_at: moment,
  updated_at: moment,
})
export type Region = z.output<typeof region>

const regionBody = z.object({ ...about, nation: nationCode.default('CN') })

export const regions = {
  list: defineCall({
    id: 'ecrm.region.list',
    method: 'GET',
    path: '/api/ecrm/v1/regions',
    summary: 'Regions',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword, nation: nationCode.optional() }),
    response: listOf(region),
  }),
  create: defineCall({
    id: 'ecrm.region.create',
    method: 'POST',
    path: '/api/ecrm/v1/regions',
    summary: 'Make a region',
    access: admins,
    status: 201,
    body: regionBody,
    response: region,
  }),
  update: defineCall({
    id: 'ecrm.region.update',
    method: 'PUT',
    path: '/api/ecrm/v1/regions/{id}',
    summary: 'Change a region',
    access: admins,
    params: byId,
    body: regionBody,
    response: region,
  }),
  delete: defineCall({
    id: 'ecrm.region.delete',
    method: 'DELETE',
    path: '/api/ecrm/v1/regions/{id}',
    summary: 'Delete a region without sites',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const

/** A room or a building with nodes in it. */
export const site = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  region: z.object({ id: z.uuid(), name: z.string() }),
  /** Province, city, county, as far as known; with their names. */
  divisions: z.array(z.object({ code: divisionCode, name: z.string() })),
  address: z.string(),
  longitude: z.number().nullable(),
  latitude: z.number().nullable(),
  edge_count: z.int(),
  online_count: z.int(),
  gateway_count: z.int(),
  created_at: moment,
  updated_at: moment,
})
export type Site = z.output<typeof site>

const siteBody = z
  .object({
    ...about,
    region_id: z.uuid(),
    divisions: z.array(divisionCode).max(3).default([]),
    address: z.string().trim().max(255, fieldTexts.descriptionTooLong).regex(plainLine, fieldTexts.controlCharacters).default(''),
    longitude: z.number().min(-180).max(180).nullable().default(null),
    latitude: z.number().min(-90).max(90).nullable().default(null),
  })
  .refine((value) => (value.longitude === null) === (value.latitude === null), { path: ['latitude'], message: fieldTexts.coordinates })

export const sites = {
  list: defineCall({
    id: 'ecrm.site.list',
    method: 'GET',
    path: '/api/ecrm/v1/sites',
    summary: 'Sites',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword, region_id: z.uuid().optional() }),
    response: listOf(site),
  }),
  create: defineCall({
    id: 'ecrm.site.create',
    method: 'POST',
    path: '/api/ecrm/v1/sites',
    summary: 'Make a site',
    access: admins,
    status: 201,
    body: siteBody,
    response: site,
  }),
  update: defineCall({
    id: 'ecrm.site.update',
    method: 'PUT',
    path: '/api/ecrm/v1/sites/{id}',
    summary: 'Change a site',
    access: admins,
    params: byId,
    body: siteBody,
    response: site,
  }),
  delete: defineCall({
    id: 'ecrm.site.delete',
    method: 'DELETE',
    path: '/api/ecrm/v1/sites/{id}',
    summary: 'Delete a site without nodes and gateways',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const

/** What an object of the edge is called; of which kind a name has to be the only one. */
export const uniqueKinds = [
  'ecrm.region',
  'ecrm.site',
  'ecrm.gateway',
  'ecrm.edge',
  'ecrm.serviceAgent',
  'aos.template',
  'aos.stack',
  'cis.deployment',
] as const satisfies readonly Kind[]

export const lookups = {
  nations: defineCall({
    id: 'ecrm.lookup.nations',
    method: 'GET',
    path: '/api/ecrm/v1/nations',
    summary: 'Nations, ISO 3166-1',
    access: tenants,
    response: z.object({ items: z.array(z.object({ code: nationCode, name: z.string() })) }),
  }),
  divisions: defineCall({
    id: 'ecrm.lookup.divisions',
    method: 'GET',
    path: '/api/ecrm/v1/divisions/{a}/{b}',
    summary: 'Divisions of a nation below another: `a` is the nation, `b` the code above, 0 for the first level',
    access: tenants,
    params: z.object({ a: nationCode, b: z.union([z.literal('0'), divisionCode]) }),
    response: z.object({ items: z.array(z.object({ code: divisionCode, name: z.string(), leaf: z.boolean() })) }),
  }),
  labelInputs: defineCall({
    id: 'ecrm.lookup.labelInputs',
    method: 'GET',
    path: '/api/ecrm/v1/labels/show-inputs/{x}',
    summary: 'Labels that begin so and are in use, for those who type one',
    access: tenants,
    params: z.object({ x: z.string().max(128).regex(plainLine, fieldTexts.controlCharacters) }),
    response: z.object({ items: z.array(z.string()) }),
  }),
  taintInputs: defineCall({
    id: 'ecrm.lookup.taintInputs',
    method: 'GET',
    path: '/api/ecrm/v1/taints/show-inputs/{x}',
    summary: 'Taints that begin so and are in use',
    access: tenants,
    params: z.object({ x: z.string().max(128).regex(plainLine, fieldTexts.controlCharacters) }),
    response: z.object({ items: z.array(z.string()) }),
  }),
  uniqueness: defineCall({
    id: 'ecrm.lookup.uniqueness',
    method: 'POST',
    path: '/api/ecrm/v1/uniqueness',
    summary: 'Whether a name is still free, for those who type one',
    access: tenants,
    audit: false,
    body: z.object({ kind: z.enum(uniqueKinds), name: z.string().trim().max(64).regex(plainLine, fieldTexts.controlCharacters) }),
    response: z.object({ unique: z.boolean() }),
  }),
} as const
