import { timingSafeEqual } from 'node:crypto'
import { request as askHttp } from 'node:http'
import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import type { InstanceUsage } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Inbox } from '../alarm/inbox.ts'
import { portOf, type Connected } from '../integration/integration.endpoint.ts'
import { tokenHash } from '../integration/integration.service.ts'
import { getIntegration, integrationOnNode, integrationsOf, type IntegrationRow } from '../integration/integration.store.ts'
import { organisationLabel, platformOrganisation } from '../query/tenant.ts'
import { accountFamilies, exposed, instanceFamilies, nodeFamilies } from './exposition.ts'
import { scrapePath } from './paths.ts'

const textFormat = 'text/plain; version=0.0.4; charset=utf-8'
/** A node-exporter tells some hundreds of kilobytes. */
const exporterMostBytes = 16 * 2 ** 20
const exporterMs = 8_000
/** Thousands of alerts at once. */
const alertsMostBytes = 4 * 2 ** 20

/** What Prometheus is told by HTTP service discovery. */
interface TargetGroup {
  readonly targets: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

export interface ScrapeParts {
  readonly db: Db
  /** Where a Prometheus reaches us. */
  readonly base: string
  readonly connected: Connected
  /** How a node was last, where it said so to this server. */
  readonly lastOf: (nodeId: string) => NodeMetrics | null
  /** What instances use now, by clouds. */
  readonly usages: () => ReadonlyMap<string, readonly InstanceUsage[]>
  /** What each organisation has left to spend. */
  readonly balances: () => Promise<readonly { readonly bp_id: string; readonly name: string; readonly balance: number }[]>
  /** Who takes what it tells. */
  readonly inbox: Pick<Inbox, 'take'>
}

/** Where a Prometheus of ours asks what there is to scrape, and scrapes what only we reach: by a token that is its own. */
export function serveScrapes(http: FastifyInstance, { db, base, connected, lastOf, usages, balances, inbox }: ScrapeParts): void {
  const allowed = async (request: FastifyRequest<{ Params: { id: string } }>): Promise<IntegrationRow> => {
    const row = /^[0-9a-f-]{36}$/.test(request.params.id) ? await getIntegration(db, request.params.id) : undefined
    const secret = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
    // Whether there is such a one is nobody's to know who does not know its token.
    if (row?.token_hash == null || !timingSafeEqual(row.token_hash, tokenHash(secret))) throw new Refusal('tokenInvalid')
    return row
  }
  const url = new URL(base)
  const address = url.host.includes(':') ? url.host : `${url.host}:${url.protocol === 'https:' ? 443 : 80}`
  const through = (path: string, labels: Record<string, string>): TargetGroup => ({
    targets: [address],
    labels: { __scheme__: url.protocol.slice(0, -1), __metrics_path__: path, ...labels },
  })
  const nodes = () => db.selectFrom('edges').select(['id', 'name', 'bp_id']).where('binding', '=', 'bound').orderBy('created_at').execute()
  const labelsOf = ({ id, name, bp_id }: { id: string; name: string; bp_id: string | null }): Record<string, string> => ({
    [organisationLabel]: bp_id ?? platformOrganisation,
    node_id: id,
    node: name,
    instance: name,
  })
  const rateLimit = { max: 20_000, timeWindow: 60_000 }
  const path = scrapePath(':id')

  http.get<{ Params: { id: string }; Querystring: Record<string, unknown> }>(`${path}/targets`, { config: { rateLimit } }, async (request, reply) => {
    const self = await allowed(request)
    const exporters = new Map((await integrationsOf(db, 'node_exporter')).flatMap((row) => (row.node_id === null ? [] : [[row.node_id, row] as const])))
    const isHere = (row: IntegrationRow): boolean => self.origin === 'kept' && row.node_id === self.node_id
    const all = await nodes()
    if (request.query['through'] === 'node')
      return reply.send(
        all.flatMap((node): TargetGroup[] => {
          const exporter = exporters.get(node.id)
          return exporter !== undefined && isHere(exporter)
            ? [{ targets: [`127.0.0.1:${exporter.port}`], labels: { job: 'node-exporter', ...labelsOf(node) } }]
            : []
        }),
      )
    const own = scrapePath(self.id)
    return reply.send([
      through('/metrics', { job: 'platform', [organisationLabel]: platformOrganisation, instance: 'platform' }),
      // Whose each is stands in what we tell: one target of many organisations.
      through(`${own}/instances`, { job: 'instance', instance: 'instances' }),
      through(`${own}/accounts`, { job: 'account', instance: 'accounts' }),
      ...all.flatMap((node) => {
        const exporter = exporters.get(node.id)
        return [
          through(`${own}/nodes/${node.id}`, { job: 'node', ...labelsOf(node) }),
          ...(exporter === undefined || isHere(exporter) ? [] : [through(`${own}/nodes/${node.id}/exporter`, { job: 'node-exporter', ...labelsOf(node) })]),
        ]
      }),
    ])
  })

  http.get<{ Params: { id: string; node: string } }>(`${path}/nodes/:node`, { config: { rateLimit } }, async (request, reply) => {
    await allowed(request)
    const last = lastOf(request.params.node)
    // So that it counts as down: nobody knows how it is.
    if (last === null || connected(request.params.node) === null) throw new Refusal('edgeOffline', { values: { name: '' } })
    return reply.type(textFormat).send(exposed(nodeFamilies(last)))
  })

  http.get<{ Params: { id: string } }>(`${path}/instances`, { config: { rateLimit } }, async (request, reply) => {
    await allowed(request)
    const now = usages()
    const rows =
      now.size === 0
        ? []
        : await db
            .selectFrom('vms')
            .select(['id', 'name', 'bp_id', 'project_id', 'cloud_id', 'engine_name', 'status', 'memory_bytes'])
            .where('cloud_id', 'in', [...now.keys()])
            .execute()
    const used = new Map([...now].flatMap(([cloudId, of]) => of.map((usage) => [`${cloudId} ${usage.name}`, usage] as const)))
    const instances = rows.map(({ id, name, bp_id, project_id, cloud_id, engine_name, status, memory_bytes }) => ({
      labels: { [organisationLabel]: bp_id ?? platformOrganisation, instance_id: id, name, project_id: project_id ?? '' },
      running: status === 'running',
      memoryBytes: memory_bytes,
      usage: used.get(`${cloud_id} ${engine_name}`) ?? null,
    }))
    return reply.type(textFormat).send(exposed(instanceFamilies(instances)))
  })

  http.get<{ Params: { id: string } }>(`${path}/accounts`, { config: { rateLimit } }, async (request, reply) => {
    await allowed(request)
    const accounts = (await balances()).map(({ bp_id, name, balance }) => ({ labels: { [organisationLabel]: bp_id, name }, balance }))
    return reply.type(textFormat).send(exposed(accountFamilies(accounts)))
  })

  http.get<{ Params: { id: string; node: string } }>(`${path}/nodes/:node/exporter`, { config: { rateLimit } }, async (request, reply) => {
    await allowed(request)
    const { node } = request.params
    const exporter = /^[0-9a-f-]{36}$/.test(node) ? await integrationOnNode(db, node, 'node_exporter') : undefined
    if (exporter?.port == null) throw new Refusal('notFound')
    return passOn(reply, node, exporter.port)
  })

  // As an Alertmanager: what goes on, and what is over, again and again until it is taken. Who it is is asked before anything is read.
  http.post<{ Params: { id: string }; Body: unknown }>(
    `${path}/api/v2/alerts`,
    {
      config: { rateLimit: { max: 1_200, timeWindow: 60_000 } },
      bodyLimit: alertsMostBytes,
      onRequest: async (request) => {
        await allowed(request)
      },
    },
    async (request, reply) => {
      const row = await allowed(request)
      if (!Array.isArray(request.body)) throw new Refusal('requestInvalid')
      await inbox.take(request.body, row)
      return reply.code(200).send({})
    },
  )

  const passOn = async (reply: FastifyReply, node: string, port: number): Promise<FastifyReply> => {
    try {
      const signal = AbortSignal.timeout(exporterMs)
      const stream = await portOf(connected, { node_id: node, port }, signal)
      const text = await new Promise<string>((resolve, reject) => {
        const question = askHttp('http://127.0.0.1/metrics', { createConnection: () => stream, signal, headers: { accept: textFormat } }, (answer) => {
          const chunks: Buffer[] = []
          let bytes = 0
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes > exporterMostBytes) question.destroy(new Error('too long an answer'))
            else chunks.push(chunk)
          })
          answer.on('error', reject)
          answer.on('end', () =>
            answer.statusCode === 200 ? resolve(Buffer.concat(chunks).toString('utf8')) : reject(new Error(`it answered ${answer.statusCode}`)),
          )
        })
        question.on('error', reject)
        question.end()
      }).finally(() => stream.destroy())
      return await reply.type(textFormat).send(text)
    } catch (error) {
      throw new Refusal('monitorBusy', { cause: isEngineError(error) ? error : new Error('an exporter did not answer', { cause: error }) })
    }
  }
}
