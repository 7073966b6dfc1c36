import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { openApi } from './openapi.ts'

/** OpenAPI at /api/docs: the page, and the document as /api/docs/json. */
export async function serveDocs(app: FastifyInstance, config: Pick<Config, 'version'>): Promise<void> {
  await app.register(swagger, { mode: 'static', specification: { document: {} as never } })
  // Made when it is first asked for: of all calls it takes a good part of a server's start.
  let document: ReturnType<typeof openApi> | undefined
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    uiConfig: { deepLinking: true, validatorUrl: null },
    transformSpecification: () => (document ??= openApi(config.version)),
    transformSpecificationClone: false,
  })
}
