import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { Refusal } from '../errors.ts'

/**
 * Serves the built console: hashed assets for a year, the page itself always fresh, and the page
 * for every path that is not an API's, so that its own router decides.
 */
export async function serveConsole(app: FastifyInstance, config: Pick<Config, 'WEB_DIR' | 'ZHISUAN_ENV'>): Promise<void> {
  const index = join(config.WEB_DIR, 'index.html')
  if (!existsSync(index)) {
    app.log.warn({ path: index }, 'the console is not built: only the API is served')
    app.setNotFoundHandler(() => {
      throw new Refusal('callUnknown')
    })
    return
  }
  const page = readFileSync(index)
  await app.register(fastifyStatic, {
    root: config.WEB_DIR,
    index: false,
    wildcard: false,
    preCompressed: true,
    setHeaders: (response, path) => {
      response.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    // A missing file must not be answered with a page: a browser would run it as a script.
    if (!['GET', 'HEAD'].includes(request.method) || /^\/(api|assets|terms)\//.test(path)) throw new Refusal('callUnknown')
    return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(page)
  })
}
