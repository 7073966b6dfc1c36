import { randomUUID } from 'node:crypto'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import websocket from '@fastify/websocket'
import { byId } from '@zhisuan/contract/define'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { aosMigrations, createAos } from './modules/aos/index.ts'
import { createBill, billMigrations } from './modules/bill/index.ts'
import { cisMigrations, createCis } from './modules/cis/index.ts'
import type { openEngine } from './modules/cmp/cloud/cloud.engines.ts'
import { cmpMigrations, createCmp } from './modules/cmp/index.ts'
import { computeMigrations, createCompute } from './modules/compute/index.ts'
import { createEcrm, ecrmMigrations } from './modules/ecrm/index.ts'
import { createIam, iamMigrations } from './modules/iam/index.ts'
import { createIssue } from './modules/issue/index.ts'
import { createNextstack, nextstackMigrations } from './modules/nextstack/index.ts'
import { createRoot } from './modules/root/index.ts'
import { createSys, sysMigrations } from './modules/sys/index.ts'
import { createUms, umsMigrations } from './modules/ums/index.ts'
import { auditMigrations, createAudit } from './platform/audit.ts'
import { changeMigrations } from './platform/changes.ts'
import type { Config } from './platform/config.ts'
import type { Migrations } from './platform/db/database.ts'
import { bindCalls, type Authorising } from './platform/http/bind.ts'
import { serveConsole } from './platform/http/console.ts'
import { serveDocs } from './platform/http/docs.ts'
import { answerProblems } from './platform/http/problems.ts'
import { serveProbes } from './platform/http/probes.ts'
import { createLog } from './platform/log.ts'
import { operationMigrations } from './platform/operations.ts'
import { openPlatform, type ModuleParts, type OpenedPlatform, type Pause } from './platform/platform.ts'

export const migrations: Migrations = {
  ...auditMigrations,
  ...operationMigrations,
  ...changeMigrations,
  ...sysMigrations,
  ...umsMigrations,
  ...iamMigrations,
  ...billMigrations,
  ...cmpMigrations,
  ...nextstackMigrations,
  ...computeMigrations,
  ...ecrmMigrations,
  ...cisMigrations,
  ...aosMigrations,
}

export interface App {
  readonly http: FastifyInstance
  readonly platform: OpenedPlatform
  /** Set only by the start that made the first administrator. */
  readonly firstPassword: string | null
  /** What comes once it listens: the agent of this host. */
  listening(url: string): Promise<void>
  /** Stops taking requests, lets running ones end, then closes everything. */
  close(): Promise<void>
}

/** What tests put in the place of the real: the clock, waits, and what leads to an engine. */
export interface AppOptions {
  readonly now?: () => Date
  readonly pause?: Pause
  readonly openEngine?: typeof openEngine
}

/** Composes platform and modules. Tests build the same app and ask it in memory. */
export async function buildApp(config: Config, options: AppOptions = {}): Promise<App> {
  const log = createLog(config)
  const platform = await openPlatform(config, log, migrations, options)
  const http: FastifyInstance = fastify({
    loggerInstance: log as FastifyBaseLogger,
    // A line a request at info is noise and costs a fifth of the throughput; metrics count them.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // Fastify counts proxies from the nearest; its types know the rule only as a function.
    trustProxy: (_address: string, hop: number) => hop < config.TRUST_PROXY,
    bodyLimit: 1024 * 1024,
    // The specification's `configs/` must be told from `configs`. A download's link tells all that was asked for.
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 2048 },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
  })
  let stopping = false
  const started: ModuleParts[] = []
  const close = async () => {
    if (stopping) return
    stopping = true
    await http.close()
    for (const module of started.toReversed()) await module.stop?.()
    await platform.close()
  }

  try {
    // Modules meet here and nowhere else.
    const sys = createSys(platform)
    const bill = createBill(platform, { settings: sys.settings })
    const iam = createIam(platform)
    const ums = createUms(platform, { settings: sys.settings, openAccount: bill.openAccount, rules: iam.rules, limits: iam.limits })
    const cmp = createCmp(platform, { ...options, licence: sys.licence })
    sys.licence.countsUsage(cmp.usageOfLicence)
    const nextstack = createNextstack(platform, { clouds: cmp.clouds, licence: sys.licence, mayMake: bill.mayMake })
    const compute = createCompute(platform, { clouds: cmp.clouds, mayMake: bill.mayMake, mayBegin: bill.mayBegin, publicKeys: nextstack.publicKeys })
    cmp.clouds.holds(nextstack.contents)
    cmp.clouds.holds(compute.contents)
    bill.delivers({ sold: nextstack.sold, personOf: ums.personOf })
    iam.projects.holds(nextstack.projectContents)
    ums.onSessionEnded(nextstack.sessionEnded)
    ums.onSessionEnded(compute.sessionEnded)
    const ecrm = createEcrm(platform)
    const cis = createCis(platform, { ...ecrm, actorOf: ums.actorOf })
    ecrm.holds(cis.contents)
    ums.onSessionEnded(cis.sessionEnded)
    const aos = createAos(platform, { ...ecrm, ...cis })
    ecrm.holds(aos.contents)
    cis.observe(aos.observer)
    for (const { suspendable } of [nextstack, compute, cis, aos]) bill.suspends(suspendable)
    bill.deliversNoticesBy(ums.notices)
    ecrm.names('template', aos.names.template)
    ecrm.names('stack', aos.names.stack)
    const modules: ModuleParts[] = [sys, bill, iam, ums, cmp, nextstack, compute, ecrm, cis, aos, createIssue(platform), createRoot()]

    const tagged = new Map(modules.flatMap(({ tags = {} }) => Object.entries(tags)))
    const authorising: Authorising = {
      authenticate: ums.authenticate,
      // What cannot be an id is nobody's.
      tags: async (scope, kind, id) => (byId.safeParse({ id }).success ? tagged.get(kind)?.(scope, id) : undefined) ?? {},
    }
    const audit = createAudit(platform.db)
    await http.register(cookie)
    await http.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          'default-src': ["'none'"],
          // Checksums of uploads are made by WebAssembly; scripts stay our own.
          'script-src': ["'self'", "'wasm-unsafe-eval'"],
          // antd writes its styles at run time.
          'style-src': ["'self'", "'unsafe-inline'"],
          'img-src': ["'self'", 'data:', 'https:'],
          'font-src': ["'self'", 'data:'],
          'connect-src': ["'self'"],
          'worker-src': ["'self'", 'blob:'],
          'manifest-src': ["'self'"],
          'form-action': ["'self'"],
          'base-uri': ["'none'"],
          'frame-ancestors': ["'none'"],
        },
      },
      // Only where people really come over TLS: a browser would refuse plain HTTP ever after.
      hsts: config.PUBLIC_URL?.startsWith('https:') === true,
    })
    await http.register(websocket, { options: { maxPayload: 1024 * 1024 } })
    answerProblems(http, audit)
    serveProbes(http, platform)
    await bindCalls(
      http,
      modules.flatMap((module) => module.handlers),
      {
        ...authorising,
        audit,
        checkResponses: config.ZHISUAN_ENV !== 'production',
      },
    )
    http.addHook('preClose', async () => {
      sys.drain()
      nextstack.drain()
      compute.drain()
      cis.drain()
      ecrm.drain()
    })
    ums.serveDevelopmentInbox(http)
    ums.serveSignOn(http)
    bill.servePayments(http)
    nextstack.serveTerminals(http)
    compute.serveTerminals(http)
    ecrm.serveTunnel(http)
    ecrm.serveAgents(http)
    await cis.serveAccess(http)
    await nextstack.serveUploads(http, authorising)
    await compute.serveUploads(http, authorising)
    platform.downloads.serve(http)
    await serveDocs(http, config)
    await serveConsole(http, config)

    platform.setOperations(
      modules.flatMap((module) => module.operations ?? []),
      bill.mayBegin,
    )
    await platform.jobs.start(
      [platform.operations.job, ...modules.flatMap((module) => module.jobs ?? [])],
      [platform.operations.jobHandler, ...modules.flatMap((module) => module.jobHandlers ?? [])],
    )
    for (const module of modules) {
      started.push(module)
      await module.start?.()
    }
    await platform.operations.start()
    return { http, platform, firstPassword: ums.firstPassword(), listening: ecrm.startLocalAgent, close }
  } catch (error) {
    await http.close().catch(() => undefined)
    for (const module of started.toReversed()) await module.stop?.().catch(() => undefined)
    await platform.close()
    throw error
  }
}
