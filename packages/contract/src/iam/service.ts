import { z } from 'zod'
import { defineCall, empty, moment } from '../define.ts'
import { contextKeys, type KeyType } from '../policy/keys.ts'
import { keepers, roles } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, name, plainLine } from '../validation.ts'

/**
 * What an action does to what it is about, as people choose by it: finding, reading, changing,
 * marking with tags, or changing who may do what.
 */
export const accessLevels = ['list', 'read', 'write', 'tagging', 'permissions'] as const
export type AccessLevel = (typeof accessLevels)[number]

const action = z.object({
  /** `nextstack.vm.start`. */
  id: z.string(),
  /** Of ours in English, as OpenAPI has it; of others as it was written. */
  summary: z.string(),
  level: z.enum(accessLevels),
  resource_type: z.string(),
  /** Null where it is no call of ours. */
  method: z.string().nullable(),
  path: z.string().nullable(),
  /** Who may be allowed it at most. */
  roles: z.array(z.enum(roles)),
  /** Which built-in roles allow it, without any other policy. */
  allowed_by: z.array(z.enum(roles)),
})
export type ServiceAction = z.output<typeof action>

export const keyTypes = ['text', 'number', 'moment', 'boolean', 'address'] as const satisfies readonly KeyType[]
const conditionKey = z.object({ /** `erp:Amount`. */ key: z.string(), type: z.enum(keyTypes), description: z.string() })

/** What policies can be about: a family of our calls, or an application that asks us who may do what in it. */
export const service = z.object({
  /** What its actions begin with; one of a kind on the platform. */
  id: z.string(),
  /** A family of our calls: it cannot be changed, and the console has names for it. */
  built_in: z.boolean(),
  name: z.string(),
  description: z.string(),
  /** Null belongs to the platform, and is there for all. */
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  actions: z.array(action),
  condition_keys: z.array(conditionKey),
  updated_at: moment.nullable(),
})
export type Service = z.output<typeof service>

/** A kind of resource, with the names that policies know it by. */
export const resourceType = z.object({
  /** `nextstack.vm`. */
  id: z.string(),
  service: z.string(),
  type: z.string(),
  built_in: z.boolean(),
  description: z.string(),
  /** What comes behind `type/`, see {@link resourcePattern}; of ours `{id}`. */
  pattern: z.string(),
  /** `zrn:nextstack:{organisation}:vm/{id}`. */
  name: z.string(),
  actions: z.array(z.string()),
})
export type ResourceType = z.output<typeof resourceType>

const id = z.object({ id: z.string().max(128).regex(plainLine) })

export const serviceLimits = { actions: 200, conditionKeys: 50, resourceTypes: 100 } as const

const serviceId = z
  .string()
  .trim()
  .regex(/^[a-z][a-z0-9-]{1,31}$/, fieldTexts.serviceId)
const typeName = z
  .string()
  .trim()
  .regex(/^[a-z][A-Za-z0-9]{0,31}$/, fieldTexts.resourceTypeName)
/** `type.verb`: the type is made with it where it is not there. */
const actionName = z
  .string()
  .trim()
  .regex(/^[a-z][A-Za-z0-9]{0,31}\.[a-z][A-Za-z0-9]{0,31}$/, fieldTexts.serviceAction)
const keyName = z
  .string()
  .trim()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, fieldTexts.serviceKey)
/** Parts between slashes, of which those in braces stand for any: `{bucket}/{id}`. */
export const resourcePattern = z
  .string()
  .trim()
  .max(128)
  .regex(/^(?:(?:[A-Za-z0-9._-]+|\{[a-z][a-z0-9_]*\})\/)*\{[a-z][a-z0-9_]*\}$/, fieldTexts.resourcePattern)

const namedOnce = (list: readonly { readonly name: string }[]): boolean => new Set(list.map((one) => one.name)).size === list.length
const content = {
  name,
  description: description.default(''),
  actions: z
    .array(z.object({ name: actionName, level: z.enum(accessLevels), description: description.default('') }))
    .min(1, fieldTexts.serviceActions)
    .max(serviceLimits.actions)
    .refine(namedOnce, fieldTexts.namedTwice),
  condition_keys: z
    .array(z.object({ name: keyName, type: z.enum(keyTypes), description: description.default('') }))
    .max(serviceLimits.conditionKeys)
    .refine(namedOnce, fieldTexts.namedTwice)
    .default([]),
} as const

export const services = {
  list: defineCall({
    id: 'iam.service.list',
    method: 'GET',
    path: '/api/iam/v1/services',
    summary: 'Families of calls, applications that ask us, and their actions',
    access: keepers,
    response: z.object({ total: z.int(), items: z.array(service) }),
  }),
  get: defineCall({
    id: 'iam.service.get',
    method: 'GET',
    path: '/api/iam/v1/services/{id}',
    summary: 'One service',
    access: keepers,
    params: id,
    response: service,
  }),
  /** Refused with 91160. A tenant administrator's belongs to their organisation. */
  create: defineCall({
    id: 'iam.service.create',
    method: 'POST',
    path: '/api/iam/v1/services',
    summary: 'Let policies be about an application of one’s own',
    access: keepers,
    status: 201,
    body: z.object({ id: serviceId, bp_id: z.uuid().nullable().default(null), ...content }),
    response: service,
  }),
  /** Refused with 91161 where a policy names what would go, 91162. */
  update: defineCall({
    id: 'iam.service.update',
    method: 'PUT',
    path: '/api/iam/v1/services/{id}',
    summary: 'Change what an application of one’s own is called and what can be done in it',
    access: keepers,
    params: id,
    body: z.object(content),
    response: service,
  }),
  /** Refused with 91161, 91162. */
  delete: defineCall({
    id: 'iam.service.delete',
    method: 'DELETE',
    path: '/api/iam/v1/services/{id}',
    summary: 'Forget an application that no policy names',
    access: keepers,
    params: id,
    response: empty,
  }),
} as const

const typeContent = { pattern: resourcePattern.default('{id}'), description: description.default('') } as const

export const resourceTypes = {
  list: defineCall({
    id: 'iam.resource.list',
    method: 'GET',
    path: '/api/iam/v1/resources',
    summary: 'Kinds of resources and how policies name them',
    access: keepers,
    response: z.object({ total: z.int(), items: z.array(resourceType) }),
  }),
  get: defineCall({
    id: 'iam.resource.get',
    method: 'GET',
    path: '/api/iam/v1/resources/{id}',
    summary: 'One kind',
    access: keepers,
    params: id,
    response: resourceType,
  }),
  /** Refused with 91162, 91163. */
  create: defineCall({
    id: 'iam.resource.create',
    method: 'POST',
    path: '/api/iam/v1/resources',
    summary: 'Give an application of one’s own another kind of resources',
    access: keepers,
    status: 201,
    body: z.object({ service: serviceId, type: typeName, ...typeContent }),
    response: resourceType,
  }),
  /** Refused with 91162. */
  update: defineCall({
    id: 'iam.resource.update',
    method: 'PUT',
    path: '/api/iam/v1/resources/{id}',
    summary: 'Change how resources of a kind are named',
    access: keepers,
    params: id,
    body: z.object(typeContent),
    response: resourceType,
  }),
  /** Refused with 91161, 91162, 91164 while the service has actions on it. */
  delete: defineCall({
    id: 'iam.resource.delete',
    method: 'DELETE',
    path: '/api/iam/v1/resources/{id}',
    summary: 'Delete a kind of resources that no policy names',
    access: keepers,
    params: id,
    response: empty,
  }),
} as const

/** What an application may say of a request, beside the condition keys of its own: the rest we know. */
export const relayedKeys = (Object.keys(contextKeys) as (keyof typeof contextKeys)[]).filter(
  (key) => !['zs:UserId', 'zs:UserName', 'zs:UserKind', 'zs:OrganisationId', 'zs:CurrentTime'].includes(key),
)
