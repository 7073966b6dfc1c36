import { z } from 'zod'
import { can } from '../can.ts'
import { container, placement } from '../cis/container.ts'
import { actsOn, byId, defineCall, empty, listOf, listQuery, moment, type Also } from '../define.ts'
import { operation } from '../operation.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine, plainText } from '../validation.ts'

/** A Compose Specification file. */
export const composeText = z.string().min(1, fieldTexts.composeRequired).max(262_144, fieldTexts.composeTooLong).regex(plainText, fieldTexts.controlCharacters)
const variableName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, fieldTexts.variableName)

/** What stands in a template as `${NAME}` and is asked for when it is deployed. */
export const variable = z.object({
  name: variableName,
  label: z.string().trim().max(64).regex(plainLine, fieldTexts.controlCharacters).default(''),
  type: z.enum(['text', 'number', 'boolean', 'password', 'choice', 'port']),
  required: z.boolean().default(true),
  default: z.string().max(4_096).regex(plainText, fieldTexts.controlCharacters).nullable().default(null),
  choices: z.array(z.string().max(255).regex(plainLine, fieldTexts.controlCharacters)).max(50).default([]),
})
export type Variable = z.output<typeof variable>

const fits: Readonly<Record<Variable['type'], (value: string, choices: readonly string[]) => boolean>> = {
  text: () => true,
  password: () => true,
  number: (value) => /^-?\d{1,15}(\.\d{1,15})?$/.test(value),
  boolean: (value) => value === 'true' || value === 'false',
  choice: (value, choices) => choices.includes(value),
  port: (value) => /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535,
}
/** Whether a value that is there is one that the variable may have. */
export const fitsVariable = ({ type, choices }: Pick<Variable, 'type' | 'choices'>, value: string): boolean => fits[type](value, choices)

export const variablesMax = 100
const variables = z
  .array(variable)
  .max(variablesMax)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, fieldTexts.variableTwice)

const version = z
  .string()
  .trim()
  .max(32)
  .regex(/^\d+(\.\d+){0,3}(-[A-Za-z0-9.]+)?$/, fieldTexts.version)

export const template = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  bp_id: z.uuid().nullable(),
  labels: z.array(z.string()),
  version: z.string(),
  version_count: z.int(),
  compose: z.string(),
  variables: z.array(variable),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Template = z.output<typeof template>

const labels = z.array(z.string().trim().min(1).max(32).regex(plainLine, fieldTexts.controlCharacters)).max(10).default([])
const content = { compose: composeText, variables: variables.default([]) } as const
const templateName = z.string().max(64).regex(plainLine, fieldTexts.controlCharacters)
const templatesBase = '/api/aos/v1/templates'

export const templates = {
  list: defineCall({
    id: 'aos.template.list',
    method: 'GET',
    path: templatesBase,
    summary: 'Application templates, each in its newest version',
    access: tenants,
    query: listQuery(['name', 'created_at', 'updated_at'], {
      keyword,
      name: templateName.optional(),
      id: z.uuid().optional(),
      labels: z.string().max(255).regex(plainLine, fieldTexts.controlCharacters).optional(),
    }),
    response: listOf(template),
  }),
  create: defineCall({
    id: 'aos.template.create',
    method: 'POST',
    path: templatesBase,
    summary: 'Make a template, or another version of the one of that name',
    access: tenants,
    perMinute: 60,
    status: 201,
    body: z.object({ name, description: description.default(''), labels, version, ...content }),
    response: template,
  }),
  get: defineCall({
    id: 'aos.template.get',
    method: 'GET',
    path: `${templatesBase}/{id}`,
    summary: 'One version of a template',
    access: tenants,
    params: byId,
    response: template,
  }),
  update: defineCall({
    id: 'aos.template.update',
    method: 'PUT',
    path: `${templatesBase}/{id}`,
    summary: 'Change a version',
    access: tenants,
    perMinute: 60,
    params: byId,
    body: z.object({ description: description.default(''), labels, ...content }),
    response: template,
  }),
  delete: defineCall({
    id: 'aos.template.delete',
    method: 'DELETE',
    path: templatesBase,
    summary: 'Delete one version by id, which a name may go with, or all of a name',
    access: tenants,
    query: z
      .object({ name: templateName.optional(), id: z.uuid().optional() })
      .refine(({ name, id }) => name !== undefined || id !== undefined, { path: ['id'], message: fieldTexts.contentRequired }),
    response: empty,
  }),
  versions: defineCall({
    id: 'aos.template.versions',
    method: 'GET',
    path: `${templatesBase}/versions/{id}`,
    summary: 'All versions of the template that one of them is of',
    access: tenants,
    params: byId,
    response: z.object({ items: z.array(template) }),
  }),
} as const

export const stackStatuses = ['deploying', 'running', 'degraded', 'stopped', 'updating', 'rolling_back', 'deleting', 'error', 'unknown'] as const
export type StackStatus = (typeof stackStatuses)[number]
export const stackTransitional: readonly StackStatus[] = ['deploying', 'updating', 'rolling_back', 'deleting']
export const stackCan = can<StackStatus>()({
  update: ['running', 'degraded', 'stopped', 'error'],
  rollback: ['running', 'degraded', 'stopped', 'error'],
  stop: ['running', 'degraded'],
  start: ['stopped', 'degraded'],
  delete: ['running', 'degraded', 'stopped', 'error', 'unknown'],
})

/** A compose project on one node; those that were deployed at once are of one deployment. */
export const stack = z.object({
  id: z.uuid(),
  name: z.string(),
  bp_id: z.uuid().nullable(),
  deployment: z.object({ id: z.uuid(), name: z.string() }),
  edge: z.object({ id: z.uuid(), name: z.string(), online: z.boolean() }),
  project: z.string(),
  status: z.enum(stackStatuses),
  /** Counts what was asked for; going back to one makes another of it. */
  revision: z.int(),
  /** The newest that compose on the node took; null before there is one. */
  deployed_revision: z.int().nullable(),
  /** Those that can be gone back to, with the newest. */
  revision_count: z.int(),
  service_count: z.int(),
  /** Services all of whose containers run. */
  running_count: z.int(),
  error: z.string().nullable(),
  /** The end of what compose said the last time. */
  output: z.string(),
  template: z.object({ id: z.uuid(), name: z.string(), version: z.string() }).nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Stack = z.output<typeof stack>

/** What is wrong with a compose file, and where. Lines and columns from 1. */
export const composeProblem = z.object({
  line: z.int(),
  column: z.int(),
  message: z.string(),
  severity: z.enum(['error', 'warning']),
  /** That the template would have to declare. */
  undeclared: z.string().optional(),
})
export type ComposeProblem = z.output<typeof composeProblem>

const stacksBase = '/api/aos/v1/docker/stacks'
const values = z.record(variableName, z.string().max(4_096).regex(plainText, fieldTexts.controlCharacters)).default({})
/** A config as a file beside the compose file, which may be mounted as `./path`. */
export const stackFile = z.object({
  config_id: z.uuid(),
  path: z
    .string()
    .trim()
    .max(128)
    // `.env` too, but neither what the agent writes beside it nor a way out.
    .regex(/^(?!\.zhisuan)\.?[A-Za-z0-9_][A-Za-z0-9._-]*(\/\.?[A-Za-z0-9_][A-Za-z0-9._-]*)*$/, fieldTexts.stackFilePath),
})
export type StackFile = z.output<typeof stackFile>
const stackFiles = z
  .array(stackFile)
  .max(50)
  .refine((list) => new Set(list.map(({ path }) => path)).size === list.length, fieldTexts.stackFileTwice)
/** Left out, an update keeps the configs that there are. */
const source = z.object({ compose: composeText.optional(), template_id: z.uuid().optional(), values, configs: stackFiles.optional() })
const oneSource = (body: { compose?: string | undefined; template_id?: string | undefined }): boolean =>
  (body.compose === undefined) !== (body.template_id === undefined)

/** Whoever deploys a template has to be allowed to see it. */
const templateOf = (body: { template_id?: string | undefined } | undefined): readonly Also[] =>
  body?.template_id === undefined ? [] : [{ action: 'aos.template.get', on: { kind: 'aos.template', id: body.template_id } }]

/** What a stack was asked to be, once. */
export const stackRevision = z.object({
  revision: z.int(),
  compose: z.string(),
  values: z.record(z.string(), z.string()),
  configs: z.array(stackFile),
  template: stack.shape.template,
  created_by: z.string(),
  created_at: moment,
})
export type StackRevision = z.output<typeof stackRevision>

export const stacks = {
  list: defineCall({
    id: 'aos.stack.list',
    method: 'GET',
    path: stacksBase,
    summary: 'Stacks',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at', 'updated_at'], { keyword, edge_id: z.uuid().optional(), status: z.enum(stackStatuses).optional() }),
    response: listOf(stack),
  }),
  create: defineCall({
    id: 'aos.stack.create',
    method: 'POST',
    path: stacksBase,
    summary: 'Deploy a compose file or a template to nodes',
    also: ({ body }) => [
      { action: 'cis.container.deploy' },
      ...templateOf(body),
      ...(body?.placement.edge_ids ?? []).flatMap((id) => actsOn('aos.stack.create', { kind: 'ecrm.edge', id })),
    ],
    access: tenants,
    perMinute: 60,
    status: 202,
    body: source
      .extend({ name, description: description.default(''), placement })
      .refine(oneSource, { path: ['compose'], message: fieldTexts.composeRequired }),
    response: z.object({ deployment_id: z.uuid(), items: z.array(stack) }),
  }),
  /** Of a template, which configs there will be is not known yet; what it does not declare is told. */
  validate: defineCall({
    id: 'aos.stack.validate',
    method: 'POST',
    path: '/api/aos/v1/docker/compose-checks',
    summary: 'What is wrong with a compose file, by lines, and which variables it asks for',
    access: tenants,
    perMinute: 120,
    audit: false,
    body: z.object({
      compose: z.string().max(262_144, fieldTexts.composeTooLong).regex(plainText, fieldTexts.controlCharacters),
      configs: stackFiles.default([]),
      template: z.boolean().default(false),
      declared: z.array(variableName).max(variablesMax).optional(),
    }),
    response: z.object({ problems: z.array(composeProblem), services: z.array(z.string()), variables: z.array(z.string()) }),
  }),
  delete: defineCall({
    id: 'aos.stack.delete',
    method: 'DELETE',
    path: `${stacksBase}/{id}`,
    summary: 'Take a stack down',
    access: tenants,
    params: byId,
    status: 202,
    response: stack,
  }),
  action: defineCall({
    id: 'aos.stack.action',
    method: 'POST',
    path: `${stacksBase}/{id}`,
    summary: 'Update to another file or other values, go back to a revision, stop, start',
    also: ({ params, body }) =>
      body?.action === 'update' || body?.action === 'rollback'
        ? [{ action: 'aos.stack.create', on: { kind: 'aos.stack', id: params.id } }, ...(body.action === 'update' ? templateOf(body) : [])]
        : [],
    access: tenants,
    perMinute: 120,
    params: byId,
    status: 202,
    // Without a file or template: the same with other values or configs.
    body: z.discriminatedUnion('action', [
      source.extend({ action: z.literal('update') }),
      z.object({ action: z.literal('rollback'), revision: z.int().min(1).optional() }),
      z.object({ action: z.literal('stop') }),
      z.object({ action: z.literal('start') }),
    ]),
    response: stack,
  }),
  composeConfig: defineCall({
    id: 'aos.stack.composeConfig',
    method: 'GET',
    path: `${stacksBase}/{id}/compose-config`,
    summary: 'The file as it was deployed, and its revisions',
    access: tenants,
    perMinute: 120,
    params: byId,
    response: z.object({ compose: z.string(), resolved: z.string(), values: z.record(z.string(), z.string()), revisions: z.array(stackRevision) }),
  }),
  operations: defineCall({
    id: 'aos.stack.operations',
    method: 'GET',
    path: `${stacksBase}/{id}/operations`,
    summary: 'What was done to the stack, newest first',
    access: tenants,
    params: byId,
    query: listQuery(['created_at'], {}),
    response: listOf(operation),
  }),
} as const

/** A service of a stack, as Compose means it. */
export const service = z.object({
  id: z.uuid(),
  name: z.string(),
  stack: z.object({ id: z.uuid(), name: z.string() }),
  edge: z.object({ id: z.uuid(), name: z.string(), online: z.boolean() }),
  image: z.string(),
  replicas: z.int(),
  running_count: z.int(),
  ports: container.shape.ports,
  status: z.enum(stackStatuses),
  created_at: moment,
})
export type Service = z.output<typeof service>

export const services = {
  list: defineCall({
    id: 'aos.service.list',
    method: 'GET',
    path: `${stacksBase}/{id}/services`,
    summary: 'Services of a stack',
    access: tenants,
    params: byId,
    response: z.object({ total: z.int(), items: z.array(service) }),
  }),
  action: defineCall({
    id: 'aos.service.action',
    method: 'POST',
    path: '/api/aos/v1/docker/services/{id}',
    summary: 'Scale, restart, stop or start a service',
    access: tenants,
    params: byId,
    status: 202,
    body: z.discriminatedUnion('action', [
      z.object({ action: z.literal('scale'), replicas: z.int().min(0).max(100) }),
      z.object({ action: z.enum(['restart', 'stop', 'start']) }),
    ]),
    response: service,
  }),
  delete: defineCall({
    id: 'aos.service.delete',
    method: 'DELETE',
    path: '/api/aos/v1/docker/services/{id}',
    summary: 'Remove the containers of a service until the stack is updated',
    access: tenants,
    params: byId,
    status: 202,
    response: service,
  }),
  instances: defineCall({
    id: 'aos.service.instances',
    method: 'GET',
    path: '/api/aos/v1/docker/services/{id}/instances',
    summary: 'Containers of a service',
    access: tenants,
    params: byId,
    response: listOf(container),
  }),
} as const

/** The stacks that were deployed at once. */
export const stackDeployment = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  bp_id: z.uuid().nullable(),
  template: z.object({ id: z.uuid(), name: z.string(), version: z.string() }).nullable(),
  stack_count: z.int(),
  running_count: z.int(),
  status: z.enum(stackStatuses),
  created_by: z.string(),
  created_at: moment,
})
export type StackDeployment = z.output<typeof stackDeployment>

export const stackDeployments = {
  list: defineCall({
    id: 'aos.deployment.list',
    method: 'GET',
    path: '/api/aos/v1/docker/deployments',
    summary: 'Applications: what was deployed at once',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword }),
    response: listOf(stackDeployment),
  }),
  get: defineCall({
    id: 'aos.deployment.get',
    method: 'GET',
    path: '/api/aos/v1/docker/deployments/{id}',
    summary: 'One application',
    access: tenants,
    params: byId,
    response: stackDeployment,
  }),
  stacks: defineCall({
    id: 'aos.deployment.stacks',
    method: 'GET',
    path: '/api/aos/v1/docker/deployments/{id}/stacks',
    summary: 'Stacks of an application, one for each node',
    access: tenants,
    params: byId,
    query: listQuery(['name', 'status', 'created_at'], { keyword }),
    response: listOf(stack),
  }),
  delete: defineCall({
    id: 'aos.deployment.delete',
    method: 'DELETE',
    path: '/api/aos/v1/docker/deployments/{id}',
    summary: 'Take an application down on every node',
    also: () => [{ action: 'aos.stack.delete' }],
    access: tenants,
    params: byId,
    status: 202,
    response: stackDeployment,
  }),
} as const

/** The configs that stacks have as files. */
export const stackConfigs = {
  list: defineCall({
    id: 'aos.stackConfig.list',
    method: 'GET',
    path: `${stacksBase}/cfgs`,
    summary: 'Configs of stacks, and which of them changed since they were deployed',
    access: tenants,
    query: listQuery(['path'], { stack_id: z.uuid().optional(), config_id: z.uuid().optional() }),
    response: listOf(
      z.object({
        stack: z.object({ id: z.uuid(), name: z.string() }),
        edge: z.object({ id: z.uuid(), name: z.string(), online: z.boolean() }),
        config: z.object({ id: z.uuid(), name: z.string() }),
        path: z.string(),
        revision: z.int(),
        newest_revision: z.int(),
      }),
    ),
  }),
  put: defineCall({
    id: 'aos.stackConfig.put',
    method: 'PUT',
    path: `${stacksBase}/cfgs`,
    summary: 'Give a stack these configs, in their newest text; services that mount a changed one are made anew',
    also: ({ body }) => [{ action: 'aos.stack.action', on: { kind: 'aos.stack', id: body?.stack_id } }],
    access: tenants,
    perMinute: 60,
    status: 202,
    body: z.object({ stack_id: z.uuid(), configs: stackFiles }),
    response: stack,
  }),
} as const

const nodeStacksBase = '/api/aos/v1/nodes/stacks'
/** The same stacks, one at a time. */
export const nodeStacks = {
  create: defineCall({
    id: 'aos.nodeStack.create',
    method: 'POST',
    path: nodeStacksBase,
    summary: 'Deploy a compose file or a template to one node',
    also: ({ body }) => [
      { action: 'aos.stack.create' },
      { action: 'cis.container.deploy' },
      ...templateOf(body),
      ...(body === undefined ? [] : actsOn('aos.stack.create', { kind: 'ecrm.edge', id: body.edge_id })),
    ],
    access: tenants,
    perMinute: 60,
    status: 202,
    body: source
      .extend({ name, description: description.default(''), edge_id: z.uuid() })
      .refine(oneSource, { path: ['compose'], message: fieldTexts.composeRequired }),
    response: stack,
  }),
  get: defineCall({
    id: 'aos.nodeStack.get',
    method: 'GET',
    path: `${nodeStacksBase}/{id}`,
    summary: 'One stack, with its services',
    access: tenants,
    params: byId,
    response: stack.extend({ services: z.array(service) }),
  }),
  delete: defineCall({
    id: 'aos.nodeStack.delete',
    method: 'DELETE',
    path: `${nodeStacksBase}/{id}`,
    summary: 'Take a stack down',
    also: ({ params }) => [{ action: 'aos.stack.delete', on: { kind: 'aos.stack', id: params.id } }],
    access: tenants,
    params: byId,
    status: 202,
    response: stack,
  }),
} as const
