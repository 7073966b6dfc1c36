import { randomUUID } from 'node:crypto'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import websocket from '@fastify/websocket'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { createAos } from './modules/aos/index.ts'
import { createBill } from './modules/bill/index.ts'
import { createCis } from './modules/cis/index.ts'
import type { openEngine } from './modules/cmp/cloud/cloud.engines.ts'
import { createCmp } from './modules/cmp/index.ts'
import { createCompute } from './modules/compute/index.ts'
import type { ReachedEdge } from './modules/ecrm/edge/edge.reach.ts'
import { createEcrm } from './modules/ecrm/index.ts'
import { createFilesModule } from './modules/files/index.ts'
import { createIam } from './modules/iam/index.ts'
import { createIms } from './modules/ims/index.ts'
import { createIssue } from './modules/issue/index.ts'
import { createMarket } from './modules/market/index.ts'
import { createModelsModule } from './modules/models/index.ts'
import { createNextstack } from './modules/nextstack/index.ts'
import { createMiddleware } from './modules/middleware/index.ts'
import { createOmc } from './modules/omc/index.ts'
import { createRoot } from './modules/root/index.ts'
import { createSys } from './modules/sys/index.ts'
import { createSplitModule } from './modules/split/index.ts'
import { createTicketModule } from './modules/ticket/index.ts'
import { createUms } from './modules/ums/index.ts'
import { createAudit, entryQuery } from './platform/audit.ts'
import { platformScope } from './platform/auth/actor.ts'
import { createBytes } from './platform/bytes/bytes.ts'
import type { Config } from './platform/config.ts'
import { Refusal } from './platform/errors.ts'
import { bindCalls, type Authorising } from './platform/http/bind.ts'
import { createChanging } from './platform/http/changing.ts'
import { createAnswerKeys } from './platform/http/keys.ts'
import { ownerOf, tagsOf } from './platform/kinds.ts'
import { serveConsole } from './platform/http/console.ts'
import { serveDocs } from './platform/http/docs.ts'
import { answerProblems } from './platform/http/problems.ts'
import { serveProbes } from './platform/http/probes.ts'
import { endSlowBodies } from './platform/http/slow.ts'
import { answerUnparsed, unparsed } from './platform/http/unparsed.ts'
import { createKept, type KeptNodes } from './platform/kept/kept.ts'
import { createLog } from './platform/log.ts'
import type { KindParts, ModuleParts } from './platform/module.ts'
import { openPlatform, type OpenedPlatform, type Pause, type Platform } from './platform/platform.ts'

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
  /** Whether jobs begin by the clock. */
  readonly schedule?: boolean
  readonly openEngine?: typeof openEngine
}

/** Makes all modules. They meet here and nowhere else: each is a line, and whatever else is done with one is done with all. */
export function createModules(platform: Platform, options: Pick<AppOptions, 'openEngine'> = {}) {
  const modules: ModuleParts[] = []
  const add = <Module extends ModuleParts>(module: Module): Module => {
    modules.push(module)
    return module
  }
  const { settings, licence, tell } = add(createSys(platform))
  const { rules, limits, refused } = add(createIam(platform, { tell }))
  const { authenticate, actorOf, personOf, passwords, accessKeys, notices, prove, firstPassword } = add(
    createUms(platform, { settings, rules, limits, refused, tell }),
  )
  const { mayMake, mayBegin, spendable, isPriced, importPrices, sumsOfProvider, balances } = add(createBill(platform, { settings, personOf, notices, tell }))
  const { clouds } = add(createCmp(platform, { ...options, licence, tell }))
  const { publicKeys, quotas, machines: instances, usages } = add(createNextstack(platform, { clouds, licence, mayMake, isPriced, personOf }))
  add(createCompute(platform, { clouds, tell, mayMake, mayBegin, publicKeys }))
  const { edges, refusedByNode, usualRefusal, workOnNode, nodeMetrics } = add(createEcrm(platform, { tell }))
  const nodes: KeptNodes = {
    reach: async (id) => nodeOf(await edges.reach(platformScope, id)),
    connected: edges.connected,
    onUp: edges.onUp,
    work: (id, signal, act) => workOnNode(edges.reach, id, signal, (edge) => act(nodeOf(edge))),
  }
  const { kept } = add(createKept(platform, nodes))
  const { imageAuth, imageUse, refusePulls } = add(createIms(platform, { passwords, accessKeys, personOf, limits, edges, refusedByNode, kept, mayMake, tell }))
  const {
    configs,
    serviceContainers,
    observe,
    usesCards,
    rented,
    machines: containers,
  } = add(createCis(platform, { edges, refusedByNode, workOnNode, actorOf, imageAuth, imageUse, mayMake }))
  add(createAos(platform, { edges, workOnNode, usualRefusal, configs, serviceContainers, observe, refusePulls }))
  const { bytes } = add(
    createBytes(platform, {
      quotaBytes: (on, bpId, projectId) => quotas.limit(on, bpId, 'file_bytes', projectId),
      mayGrow: (tx, bp_id) => quotas.mayGrow(tx, { bp_id }),
    }),
  )
  const { transfers } = add(createFilesModule(platform, { bytes, passwords, machines: { 'cis.container': containers, 'nextstack.vm': instances } }))
  add(createModelsModule(platform, { bytes, settings, actorOf, personOf, transfers }))
  add(createSplitModule(platform, { tell, mail: notices, settings, prove }))
  add(createTicketModule(platform, { bytes, tell, mail: notices }))
  add(
    createMarket(platform, {
      settings,
      edges,
      refusedByNode,
      tell,
      importPrices,
      usesCards,
      rented,
      mayMake,
      spendable,
      sumsOfProvider,
      personOf,
      actorOf,
      personOfKey: publicKeys.personOf,
    }),
  )
  add(createOmc(platform, { edges, nodeMetrics, usages, balances, kept, settings, notices, actorOf, personOf }))
  add(createMiddleware(platform, { kept, prove, nodes }))
  add(createIssue(platform))
  add(createRoot())
  return { modules, authenticate, firstPassword }
}

/** Of a node what the platform has to know. */
const nodeOf = ({ row, tunnel }: ReachedEdge) => ({ name: row.name, tunnel })

/** Composes platform and modules. Tests build the same app and ask it in memory. */
export async function buildApp(config: Config, options: AppOptions = {}): Promise<App> {
  const log = createLog(config)
  const platform = await openPlatform(config, log, options)
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
    // Told below, as everything else.
    return503OnClosing: false,
    ...unparsed,
  })
  let stopping = false
  const started: ModuleParts[] = []
  const listening = async (url: string) => {
    for (const module of started) await module.listening?.(url)
  }
  const close = async () => {
    if (stopping) return
    stopping = true
    await http.close()
    for (const module of started.toReversed()) await module.stop?.()
    await platform.close()
  }

  try {
    const { modules, authenticate, firstPassword } = createModules(platform, options)
    await platform.compose(modules)

    const authorising: Authorising = {
      authenticate,
      tags: (scope, kind, id) => tagsOf(platform.kinds(), scope, kind, id),
      owner: (of, id, kind) => {
        const named = modules.flatMap((module) => module.named?.[of] ?? [])[0]
        return named === undefined ? ownerOf(platform.db, platform.kinds(), { of, id, kind }) : named(platform.db, id)
      },
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
          'media-src': ["'self'"],
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
    http.addHook('onRequest', async () => {
      if (stopping) throw new Refusal('serverStopping')
    })
    answerUnparsed(http)
    endSlowBodies(http)
    serveProbes(http, platform)
    const changing = createChanging({
      db: platform.db,
      entryQuery: (entry) => entryQuery(platform.db, entry),
      tableOf: (kind) => (platform.kinds() as ReadonlyMap<string, KindParts>).get(kind)?.table,
      keys: createAnswerKeys(platform.secrets),
    })
    await bindCalls(
      http,
      modules.flatMap((module) => module.handlers),
      {
        ...authorising,
        openStreams: platform.openStreams,
        changing,
        checkResponses: config.ZHISUAN_ENV !== 'production',
      },
    )
    http.addHook('preClose', async () => {
      platform.openStreams.drain()
      for (const module of modules) module.drain?.()
    })
    for (const module of modules) await module.serve?.(http, authorising, changing)
    platform.downloads.serve(http)
    await serveDocs(http, config)
    await serveConsole(http, config, async (path) => {
      for (const module of modules) {
        const head = (await module.headOf?.(path)) ?? null
        if (head !== null) return head
      }
      return null
    })

    await platform.jobs.start(
      [platform.operations.job, ...modules.flatMap((module) => module.jobs ?? [])],
      [platform.operations.jobHandler, ...modules.flatMap((module) => module.jobHandlers ?? [])],
    )
    for (const module of modules) {
      started.push(module)
      await module.start?.()
    }
    await platform.operations.start()
    return { http, platform, firstPassword: firstPassword(), listening, close }
  } catch (error) {
    await http.close().catch(() => undefined)
    for (const module of started.toReversed()) await module.stop?.().catch(() => undefined)
    await platform.close()
    throw error
  }
}
