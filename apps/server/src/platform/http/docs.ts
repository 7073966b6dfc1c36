import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { openApi } from './openapi.ts'

/** OpenAPI at /api/docs: the page, and the document as /api/docs/json. */
export async function serveDocs(app: FastifyInstance, config: Pick<Config, 'version'>): Promise<void> {
  await app.register(swagger, {
    mode: 'static',
    // The library types the document of several OpenAPI versions; ours is 3.1.
    specification: { document: openApi(config.version) as never },
  })
  await app.register(swaggerUi, { routePrefix: '/api/docs', uiConfig: { deepLinking: true, validatorUrl: null } })
}
