import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { operation } from '../operation.ts'
import { reference } from '../resource.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named, passwordTyped } from '../validation.ts'

const servicesPath = '/api/service-manager/v1/services'

/** `mysql` is MariaDB, which speaks MySQL's protocol. */
export const serviceTypes = ['mysql', 'postgresql', 'redis'] as const
export type ServiceType = (typeof serviceTypes)[number]
/** One program, on one node. */
export const serviceDeployment = 'standalone'

export const serviceStatuses = ['installing', 'active', 'stopped', 'changing', 'removing', 'error'] as const
export type ServiceStatus = (typeof serviceStatuses)[number]

/** What may be done to a service in which status. */
export const serviceCan = can<ServiceStatus>()({
  update: ['active'],
  start: ['stopped'],
  stop: ['active'],
  restart: ['active'],
  password: ['active'],
  /** Its databases and accounts, which it has to be asked for. */
  manage: ['active'],
  delete: ['active', 'stopped', 'error'],
})

export const serviceHealths = ['unknown', 'reachable', 'degraded', 'unreachable'] as const
/** `loopback`: only programs of its node reach it. */
export const serviceListens = ['all', 'loopback'] as const
/** At which each of them listens unless another port is chosen. */
export const serviceUsualPorts: Readonly<Record<ServiceType, number>> = { mysql: 3_306, postgresql: 5_432, redis: 6_379 }
/** As whom its first password signs in. */
export const serviceUsers: Readonly<Record<ServiceType, string>> = { mysql: 'root', postgresql: 'postgres', redis: 'default' }
/** What those have and caches have not: databases and accounts. */
export const hasDatabases = (type: ServiceType): boolean => type !== 'redis'

const settings = {
  /** What it keeps in memory at most, beside what its connections need. MiB. */
  memory_mb: z.int(fieldTexts.serviceMemory).min(64, fieldTexts.serviceMemory).max(1_048_576, fieldTexts.serviceMemory),
  connections_most: z.int(fieldTexts.serviceConnections).min(10, fieldTexts.serviceConnections).max(10_000, fieldTexts.serviceConnections),
} as const

/** Printable ASCII: so it is the same to every client. */
export const servicePassword = z.string(fieldTexts.servicePassword).regex(/^[!-~]{8,64}$/, fieldTexts.servicePassword)
const port = z.int(fieldTexts.registryPort).min(1_024, fieldTexts.registryPort).max(65_535, fieldTexts.registryPort)

export const databaseService = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  type: z.enum(serviceTypes),
  deployment: z.literal(serviceDeployment),
  status: z.enum(serviceStatuses),
  health: z.enum(serviceHealths),
  health_message: z.string().nullable(),
  node: reference,
  /** Of its node; whoever reaches one of them reaches it, unless it listens at the loopback address. */
  addresses: z.array(z.string()),
  port: z.int(),
  listens: z.enum(serviceListens),
  /** As whom its password signs in. */
  username: z.string(),
  memory_mb: z.int(),
  connections_most: z.int(),
  /** Of the program, as it says itself. */
  version: z.string().nullable(),
  error: z.string().nullable(),
  operation_id: z.uuid().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type DatabaseService = z.output<typeof databaseService>

/** What a service says of itself now; what it does not tell is null. */
export const serviceFigures = z.object({
  version: z.string(),
  uptime_seconds: z.int(),
  connections: z.int(),
  connections_most: z.int(),
  memory_bytes: z.number().nullable(),
  /** Of what is kept in it, on disk. */
  size_bytes: z.number().nullable(),
})
export type ServiceFigures = z.output<typeof serviceFigures>

const reserved = /^(root|mysql|mariadb|postgres|default|template\d|information_schema|performance_schema|sys|public|pg_.*)$/
/** A name that no program needs quotes for, and that none of theirs has. */
const plainName = (most: number, text: string) =>
  z
    .string(text)
    .trim()
    .max(most, text)
    .regex(/^[a-z][a-z0-9_]*$/, text)
    .refine((value) => !reserved.test(value), fieldTexts.serviceNameReserved)
export const databaseName = plainName(63, fieldTexts.databaseName)
export const accountName = plainName(32, fieldTexts.accountName)

export const serviceDatabase = z.object({ name: z.string(), size_bytes: z.number().nullable() })
export type ServiceDatabase = z.output<typeof serviceDatabase>
/** `databases`: all of which it may do anything in. */
export const serviceAccount = z.object({ name: z.string(), databases: z.array(z.string()) })
export type ServiceAccount = z.output<typeof serviceAccount>

const one = { params: byId } as const
const nothingMore = z.object({})

export const databaseServices = {
  list: defineCall({
    id: 'middleware.service.list',
    method: 'GET',
    path: servicesPath,
    summary: 'Databases and caches that the platform runs on nodes',
    access: admins,
    query: listQuery(['name', 'created_at'], {
      keyword,
      type: z.enum(serviceTypes).optional(),
      status: z.enum(serviceStatuses).optional(),
      node_id: z.uuid().optional(),
    }),
    response: listOf(databaseService),
  }),
  get: defineCall({
    ...one,
    id: 'middleware.service.get',
    method: 'GET',
    path: `${servicesPath}/{id}`,
    summary: 'One database or cache',
    access: admins,
    response: databaseService,
  }),
  create: defineCall({
    id: 'middleware.service.create',
    method: 'POST',
    path: servicesPath,
    summary: 'Have a database or a cache run on a node; without a password it is given one',
    access: admins,
    status: 202,
    body: named.extend({
      type: z.enum(serviceTypes),
      node_id: z.uuid(),
      /** Left out: the usual one of its type. */
      port: port.optional(),
      listens: z.enum(serviceListens).default('all'),
      memory_mb: settings.memory_mb.default(256),
      connections_most: settings.connections_most.default(100),
      password: servicePassword.optional(),
    }),
    response: databaseService,
  }),
  update: defineCall({
    ...one,
    id: 'middleware.service.update',
    method: 'PUT',
    path: `${servicesPath}/{id}`,
    summary: 'Change name or description, or its parameters: for these it is started anew',
    access: admins,
    status: 202,
    body: z.object({
      name: name.optional(),
      description: description.optional(),
      memory_mb: settings.memory_mb.optional(),
      connections_most: settings.connections_most.optional(),
    }),
    response: databaseService,
  }),
  start: defineCall({
    ...one,
    id: 'middleware.service.start',
    method: 'POST',
    path: `${servicesPath}/{id}/start`,
    summary: 'Start one that is stopped',
    access: admins,
    status: 202,
    body: nothingMore,
    response: databaseService,
  }),
  stop: defineCall({
    ...one,
    id: 'middleware.service.stop',
    method: 'POST',
    path: `${servicesPath}/{id}/stop`,
    summary: 'Stop it; what is kept in it stays',
    access: admins,
    status: 202,
    body: nothingMore,
    response: databaseService,
  }),
  restart: defineCall({
    ...one,
    id: 'middleware.service.restart',
    method: 'POST',
    path: `${servicesPath}/{id}/restart`,
    summary: 'Stop it and start it again',
    access: admins,
    status: 202,
    body: nothingMore,
    response: databaseService,
  }),
  password: defineCall({
    ...one,
    id: 'middleware.service.password',
    method: 'POST',
    path: `${servicesPath}/{id}/password`,
    summary: 'Give it another password, in the program itself; left out one is made. The one before is refused from then on',
    access: admins,
    status: 202,
    body: z.object({ password: servicePassword.optional() }),
    response: databaseService,
  }),
  credential: defineCall({
    ...one,
    id: 'middleware.service.credential',
    method: 'POST',
    path: `${servicesPath}/{id}/credential`,
    summary: 'Its user name and password; whoever asks proves who they are, and it is recorded that they asked',
    access: admins,
    body: z.object({ password: passwordTyped.optional() }),
    response: z.object({ username: z.string(), password: z.string() }),
  }),
  figures: defineCall({
    ...one,
    id: 'middleware.service.figures',
    method: 'GET',
    path: `${servicesPath}/{id}/figures`,
    summary: 'What it says of itself now; null where it does not answer',
    access: admins,
    response: z.object({ figures: serviceFigures.nullable() }),
  }),
  operations: defineCall({
    ...one,
    id: 'middleware.service.operations',
    method: 'GET',
    path: `${servicesPath}/{id}/operations`,
    summary: 'What was done to it, newest first',
    access: admins,
    query: listQuery(['created_at'], {}),
    response: listOf(operation),
  }),
  log: defineCall({
    ...one,
    id: 'middleware.service.log',
    method: 'GET',
    path: `${servicesPath}/{id}/log`,
    summary: 'The last lines that its program has written',
    access: admins,
    query: z.object({ lines: z.coerce.number().int().min(1).max(2_000).default(200) }),
    response: z.object({ text: z.string() }),
  }),
  delete: defineCall({
    ...one,
    id: 'middleware.service.delete',
    method: 'DELETE',
    path: `${servicesPath}/{id}`,
    summary: 'Take it away, with all that is kept in it',
    access: admins,
    status: 202,
    response: databaseService,
  }),
} as const

const ofService = z.object({ id: z.uuid() })

export const serviceDatabases = {
  list: defineCall({
    id: 'middleware.database.list',
    method: 'GET',
    path: `${servicesPath}/{id}/databases`,
    summary: 'Databases in one, as it says itself',
    access: admins,
    params: ofService,
    response: listOf(serviceDatabase),
  }),
  create: defineCall({
    id: 'middleware.database.create',
    method: 'POST',
    path: `${servicesPath}/{id}/databases`,
    summary: 'Make a database in it',
    access: admins,
    status: 201,
    outside: true,
    params: ofService,
    body: z.object({ name: databaseName }),
    response: serviceDatabase,
  }),
  delete: defineCall({
    id: 'middleware.database.delete',
    method: 'DELETE',
    path: `${servicesPath}/{id}/databases/{name}`,
    summary: 'Delete a database, with all that is in it',
    access: admins,
    outside: true,
    params: ofService.extend({ name: databaseName }),
    response: empty,
  }),
} as const

export const serviceAccounts = {
  list: defineCall({
    id: 'middleware.account.list',
    method: 'GET',
    path: `${servicesPath}/{id}/accounts`,
    summary: 'Accounts in one, as it says itself',
    access: admins,
    params: ofService,
    response: listOf(serviceAccount),
  }),
  create: defineCall({
    id: 'middleware.account.create',
    method: 'POST',
    path: `${servicesPath}/{id}/accounts`,
    summary: 'Make an account that may do anything in these databases, and nothing elsewhere',
    access: admins,
    status: 201,
    outside: true,
    params: ofService,
    body: z.object({ name: accountName, password: servicePassword, databases: z.array(databaseName).max(100).default([]) }),
    response: serviceAccount,
  }),
  delete: defineCall({
    id: 'middleware.account.delete',
    method: 'DELETE',
    path: `${servicesPath}/{id}/accounts/{name}`,
    summary: 'Delete an account; what it made stays',
    access: admins,
    outside: true,
    params: ofService.extend({ name: accountName }),
    response: empty,
  }),
} as const
