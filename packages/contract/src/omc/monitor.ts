import { z } from 'zod'
import { operation } from '../operation.ts'
import { can } from '../can.ts'
import { byId, defineCall, flag, listOf, listQuery, moment } from '../define.ts'
import { reference } from '../resource.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine, plainText } from '../validation.ts'

export const monitorPath = '/api/omc/v1/monitor'

/** `prometheus`: scrapes, keeps and is asked. `node_exporter`: tells of the machine that it runs on. */
export const monitorComponents = ['prometheus', 'node_exporter'] as const
export type MonitorComponent = (typeof monitorComponents)[number]
/** Debian's programs listen there unless somebody says otherwise. */
export const componentPorts = { prometheus: 9090, node_exporter: 9100 } as const satisfies Record<MonitorComponent, number>

/** `kept`: runs on a node, by the platform. `registered`: was there, at its address. */
export const integrationOrigins = ['kept', 'registered'] as const

export const integrationStatuses = ['installing', 'active', 'changing', 'removing', 'error'] as const
export type IntegrationStatus = (typeof integrationStatuses)[number]

/** What may be done to a component in which status. */
export const integrationCan = can<IntegrationStatus>()({
  reinstall: ['active', 'error'],
  uninstall: ['active', 'error'],
  update: ['active'],
  query: ['active', 'changing'],
})

export const integrationHealths = ['unknown', 'reachable', 'degraded', 'unreachable', 'unauthorised'] as const

const settings = {
  /** Between two looks at each target. */
  scrape_interval_seconds: z.int().min(5).max(300),
  /** So long samples are kept. */
  retention_days: z.int().min(1).max(3_650),
  /** And so much of them at most, whatever their age; null: no limit. */
  retention_gb: z.int().min(1).max(100_000).nullable(),
} as const
/** How a Prometheus works that the platform runs. */
export const prometheusSettings = z.object({
  scrape_interval_seconds: settings.scrape_interval_seconds.default(15),
  retention_days: settings.retention_days.default(30),
  retention_gb: settings.retention_gb.default(null),
})
export type PrometheusSettings = z.output<typeof prometheusSettings>

export const integration = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  component: z.enum(monitorComponents),
  origin: z.enum(integrationOrigins),
  status: z.enum(integrationStatuses),
  health: z.enum(integrationHealths),
  health_message: z.string().nullable(),
  checked_at: moment.nullable(),
  /** On which it runs; of one that is registered none. */
  node: reference.nullable(),
  /** At that node's loopback address only. */
  port: z.int().nullable(),
  /** Of one that is registered. */
  url: z.string().nullable(),
  username: z.string().nullable(),
  version: z.string().nullable(),
  error: z.string().nullable(),
  operation_id: z.uuid().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Integration = z.output<typeof integration>

/** What everybody knows of a Prometheus who may ask it. */
export const prometheusBasic = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  status: z.enum(integrationStatuses),
  health: z.enum(integrationHealths),
})
export type PrometheusBasic = z.output<typeof prometheusBasic>

export const prometheusInstance = integration.extend({
  settings: prometheusSettings,
  /** What one that is registered is to be told, so that it scrapes what the platform has: lines for its own file. The token stands in them only in the answer that makes it. */
  scrape_config: z.string().nullable(),
})
export type PrometheusInstance = z.output<typeof prometheusInstance>

const secret = z.string(fieldTexts.contentRequired).min(1, fieldTexts.contentRequired).max(4096).regex(plainLine, fieldTexts.controlCharacters)

/** By which a Prometheus that exists is reached, or a VictoriaMetrics. */
export const monitorConnection = z.object({
  url: z
    .url({ protocol: /^https?$/, error: fieldTexts.monitorUrl })
    .max(1024)
    .regex(/^[^?#\s@]+$/, fieldTexts.monitorUrl),
  certificate_authority: z
    .string(fieldTexts.pem)
    .trim()
    .max(65_536)
    .regex(/^-----BEGIN [A-Z ]+-----[\t\n\r -~]+-----END [A-Z ]+-----$/, fieldTexts.pem)
    .optional(),
  account: z
    .object({
      username: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(255).regex(plainLine, fieldTexts.controlCharacters),
      password: secret,
    })
    .optional(),
  /** Instead of an account. */
  token: secret.optional(),
})
export type MonitorConnection = z.output<typeof monitorConnection>

const create = z
  .object({
    name,
    description: description.default(''),
    component: z.enum(monitorComponents),
    /** Where one is to be made; else `connection`, of a Prometheus that exists. */
    place: z
      .object({ node_id: z.uuid(), port: z.int(fieldTexts.registryPort).min(1024, fieldTexts.registryPort).max(65_535, fieldTexts.registryPort).optional() })
      .optional(),
    connection: monitorConnection.optional(),
    settings: prometheusSettings.prefault({}),
  })
  .refine(({ connection, place }) => (connection === undefined) !== (place === undefined), { path: ['place'], error: fieldTexts.monitorWay })
  .refine(({ connection, component }) => connection === undefined || component === 'prometheus', { path: ['component'], error: fieldTexts.monitorRegistered })
  .refine(({ connection }) => connection?.account === undefined || connection.token === undefined, {
    path: ['connection', 'token'],
    error: fieldTexts.monitorAccount,
  })

const one = { params: byId } as const

export const integrations = {
  list: defineCall({
    id: 'omc.integration.list',
    method: 'GET',
    path: `${monitorPath}/integrations`,
    summary: 'Monitoring components: those that run on nodes, and those that are registered',
    access: admins,
    query: listQuery(['name', 'created_at'], {
      keyword,
      component: z.enum(monitorComponents).optional(),
      origin: z.enum(integrationOrigins).optional(),
      status: z.enum(integrationStatuses).optional(),
    }),
    response: listOf(integration),
  }),
  get: defineCall({
    ...one,
    id: 'omc.integration.get',
    method: 'GET',
    path: `${monitorPath}/integrations/{id}`,
    summary: 'One monitoring component',
    access: admins,
    response: integration,
  }),
  create: defineCall({
    id: 'omc.integration.create',
    method: 'POST',
    path: `${monitorPath}/integrations`,
    summary: 'Install a component on a node, or register a Prometheus that exists, which has to answer first',
    access: admins,
    status: 201,
    body: create,
    response: prometheusInstance.or(integration),
  }),
  action: defineCall({
    ...one,
    id: 'omc.integration.action',
    method: 'PATCH',
    path: `${monitorPath}/integrations/{id}`,
    summary:
      'Install it anew, with what it has kept, or uninstall it with all of that; one that is registered is forgotten. By force also where its node is away',
    access: admins,
    status: 202,
    query: z.object({ action: z.enum(['reinstall', 'uninstall']), force: flag.default(false) }),
    response: integration,
  }),
  operations: defineCall({
    ...one,
    id: 'omc.integration.operations',
    method: 'GET',
    path: `${monitorPath}/integrations/{id}/operations`,
    summary: 'What was done to it, newest first, rules that were brought to it too',
    access: admins,
    query: listQuery(['created_at'], {}),
    response: listOf(operation),
  }),
  log: defineCall({
    ...one,
    id: 'omc.integration.log',
    method: 'GET',
    path: `${monitorPath}/integrations/{id}/log`,
    summary: 'The last lines that one which the platform runs has written',
    access: admins,
    query: z.object({ lines: z.coerce.number().int().min(1).max(2_000).default(200) }),
    response: z.object({ text: z.string() }),
  }),
} as const

/** An answer has at most so many points of a series, and of all of them together. */
export const pointsMost = 11_000
/** No question reaches further. */
export const queryRangeMostSeconds = 400 * 86_400

const unix = z.coerce.number().min(0).max(9_999_999_999)

export const queryResult = z.object({
  type: z.enum(['vector', 'matrix', 'scalar', 'string']),
  series: z.array(z.object({ labels: z.record(z.string(), z.string()), points: z.array(z.tuple([z.number(), z.string()])) })),
  warnings: z.array(z.string()),
})
export type QueryResult = z.output<typeof queryResult>

export const scrapeJob = z.object({
  job: z.string(),
  target_count: z.int(),
  up_count: z.int(),
  targets: z.array(
    z.object({
      url: z.string(),
      instance: z.string(),
      labels: z.record(z.string(), z.string()),
      health: z.enum(['up', 'down', 'unknown']),
      error: z.string().nullable(),
      scraped_at: moment.nullable(),
      seconds: z.number(),
    }),
  ),
})
export type ScrapeJob = z.output<typeof scrapeJob>

export const prometheus = {
  list: defineCall({
    id: 'omc.prometheus.list',
    method: 'GET',
    path: `${monitorPath}/prometheus`,
    summary: 'Prometheus instances; tenants see those that they can ask, and what they need for that',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword, status: z.enum(integrationStatuses).optional() }),
    response: z.union([listOf(prometheusInstance), listOf(prometheusBasic)]),
  }),
  get: defineCall({
    ...one,
    id: 'omc.prometheus.get',
    method: 'GET',
    path: `${monitorPath}/prometheus/{id}`,
    summary: 'One Prometheus',
    access: admins,
    response: prometheusInstance,
  }),
  update: defineCall({
    ...one,
    id: 'omc.prometheus.update',
    method: 'PATCH',
    path: `${monitorPath}/prometheus/{id}`,
    summary: 'Change name, description, or how it works: that only of one that the platform runs, and back where it does not start so',
    access: admins,
    status: 202,
    body: z.object({ name: name.optional(), description: description.optional(), settings: z.object(settings).partial().optional() }),
    response: prometheusInstance,
  }),
  jobs: defineCall({
    ...one,
    id: 'omc.prometheus.jobs',
    method: 'GET',
    path: `${monitorPath}/prometheus/{id}/jobs`,
    summary: 'What it scrapes, by jobs: health, time and error of the last look at each target',
    access: admins,
    response: z.object({ items: z.array(scrapeJob) }),
  }),
  query: defineCall({
    ...one,
    id: 'omc.prometheus.query',
    method: 'GET',
    path: `${monitorPath}/prometheus/{id}/data/query`,
    summary: `Ask by PromQL, for a moment or for a time, ${pointsMost} points a series at most. Tenants are answered from the series of their organisation only`,
    access: tenants,
    query: z.object({
      query: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(2_048).regex(plainText, fieldTexts.controlCharacters),
      time: unix.optional(),
      start: unix.optional(),
      end: unix.optional(),
      step: z.coerce
        .number()
        .min(1)
        .max(86_400 * 31)
        .optional(),
    }),
    response: queryResult,
  }),
  link: defineCall({
    id: 'omc.prometheus.link',
    method: 'GET',
    path: `${monitorPath}/link{x}`,
    summary:
      'Where the own pages of a kind of component are, for a browser: `x` is the component, `/monitor/linkprometheus`. One that the platform runs listens on its node only and has none',
    access: admins,
    params: z.object({ x: z.enum(monitorComponents) }),
    response: z.object({ items: z.array(z.object({ id: z.uuid(), name: z.string(), url: z.string().nullable() })) }),
  }),
} as const
