import { sql } from 'kysely'
import type { FastifyInstance } from 'fastify'
import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { OpenedPlatform } from '../platform.ts'

/**
 * /healthz: the process answers. /readyz: the database does too. /metrics: for Prometheus, to be
 * kept from the public by the reverse proxy; it holds counts and times, nothing of anybody.
 */
export function serveProbes(app: FastifyInstance, platform: OpenedPlatform): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'zhisuan_http_request_duration_seconds',
    help: 'Time to answer, by call and status',
    labelNames: ['call', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  new Gauge({
    name: 'zhisuan_operations_open',
    help: 'Operations that are queued or running',
    registers: [registry],
    async collect() {
      const { rows } = await sql<{ open: number }>`select count(*) as open from operations where status in ('queued', 'running', 'undoing')`.execute(
        platform.db,
      )
      this.set(rows[0]?.open ?? 0)
    },
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { call } = request.routeOptions.config
    if (call !== undefined) duration.observe({ call: call.id, status: String(reply.statusCode) }, reply.elapsedTime / 1000)
    done()
  })

  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    try {
      await sql`select 1`.execute(platform.db)
      return { status: 'ready' }
    } catch {
      return reply.code(503).send({ status: 'database unavailable' })
    }
  })
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
}
