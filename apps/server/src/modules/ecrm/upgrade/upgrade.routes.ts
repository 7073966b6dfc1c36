import { createReadStream } from 'node:fs'
import { agentVersion } from '@zhisuan/contract/agent/tunnel'
import { edgeUpgrades as calls } from '@zhisuan/contract/ecrm/edge'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { found, Refusal } from '../../../platform/errors.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { EdgeService } from '../edge/edge.service.ts'
import type { AgentFiles } from './agent.files.ts'
import { installScript } from './install.sh.ts'
import type { UpgradeService } from './upgrade.service.ts'

export const upgradeRoutes = (upgrades: UpgradeService, edges: EdgeService): Handler[] => [
  handle(calls.versions, () => upgrades.versions()),
  handle(calls.upgrade, async ({ actor, params, body }) => {
    await upgrades.begin(actor, params.id, body)
    return edges.get(actor, params.id)
  }),
]

const wanted = z.object({ version: agentVersion })

/** The agent's program, for whoever asks: it is no secret, and nodes check what they get. */
export function serveAgents(app: FastifyInstance, files: AgentFiles): void {
  app.get('/agent/install.sh', async (_request, reply) => {
    const [newest] = await files.list()
    if (newest === undefined) throw new Refusal('agentVersionUnknown')
    return reply
      .type('text/x-shellscript; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(installScript(newest, await files.node()))
  })
  app.get('/agent/node/:version', async (request, reply) => {
    const program = await files.node()
    const { data } = wanted.safeParse(request.params)
    if (program === null || data?.version !== program.version) throw new Refusal('notFound')
    return reply.type('application/octet-stream').header('content-length', program.sizeBytes).send(createReadStream(program.path))
  })
  app.get('/agent/:version/agent.mjs', async (request, reply) => {
    const { data } = wanted.safeParse(request.params)
    const bundle = found(data === undefined ? null : await files.get(data.version))
    return reply.type('text/javascript; charset=utf-8').header('content-length', bundle.sizeBytes).send(createReadStream(bundle.path))
  })
}
