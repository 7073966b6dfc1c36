import type { FastifyInstance } from 'fastify'
import type { Platform } from '../../../platform/platform.ts'
import { listInbox } from './delivery.store.ts'

/** Where codes that nobody was sent can be read. Not there at all in production; not in the contract either. */
export function serveDevelopmentInbox(http: FastifyInstance, { config, db }: Pick<Platform, 'config' | 'db'>): void {
  if (config.ZHISUAN_ENV === 'production') return
  http.get('/api/dev/v1/inbox', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    return { items: await listInbox(db) }
  })
}
