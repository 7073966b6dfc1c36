import { setTimeout as sleep } from 'node:timers/promises'
import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import { z } from 'zod'
import { readConfig } from '../../apps/server/src/platform/config.ts'
import { Refusal } from '../../apps/server/src/platform/errors.ts'
import { createKept } from '../../apps/server/src/platform/kept/kept.ts'
import { createLog } from '../../apps/server/src/platform/log.ts'
import type { OperationDefinition, OperationStep } from '../../apps/server/src/platform/operations.ts'
import { openPlatform } from '../../apps/server/src/platform/platform.ts'
import { isAgentError, type Tunnel } from '../../apps/server/src/platform/tunnel/tunnel.ts'
import { startAgentServer } from './agent-server.ts'

/**
 * Of the server what keeps programs on one node, as a process of its own, so that it can be killed at any step: it begins
 * the operations that it is told by its parent. Started by {@link file://../engines/agent.kept.test.ts}.
 */
export type ToKeptServer = { readonly what: 'install' | 'uninstall'; readonly id: string; readonly wanted?: KeptWanted }

const known = z.object({ IDENTITY: z.string(), EDGE_ID: z.string(), TOKEN: z.string(), KEY: z.string(), AGENT_PORT: z.coerce.number() }).parse(process.env)
const server = await startAgentServer({ identity: known.IDENTITY, port: known.AGENT_PORT, edgeId: known.EDGE_ID, token: known.TOKEN, key: known.KEY })
const config = readConfig(process.env)
const platform = await openPlatform(config, createLog({ LOG_LEVEL: 'silent' }))

const name = 'node'
const connected = (id: string): Tunnel | null => (server.tunnels.connected(id) ? server.tunnels.to(id) : null)
const reach = async (id: string): Promise<{ name: string; tunnel: Tunnel }> => {
  const tunnel = connected(id)
  if (tunnel === null) throw new Refusal('edgeOffline', { values: { name } })
  return { name, tunnel }
}
const module = createKept(platform, {
  reach,
  connected,
  onUp: () => undefined,
  async work(id, signal, act) {
    for (;;) {
      try {
        return await act(await reach(id))
      } catch (error) {
        if (!isAgentError(error, 'offline', 'unanswered') && !(error instanceof Refusal && error.refusal === 'edgeOffline')) throw error
      }
      await sleep(50, undefined, { signal })
    }
  },
})
const { kept } = module
type Input = Record<string, never>
const of = ({ resource_id }: { readonly resource_id: string }): string => resource_id
const definition = (kind: string, steps: OperationStep<Input>[]): OperationDefinition<Input> => ({
  kind,
  resource_type: 'nextstack.vm',
  input: z.record(z.string(), z.never()),
  steps,
  ended: (tx, { resource_id }, refusal) => kept.settle(tx, resource_id, refusal),
})
const definitions = {
  install: definition('test.kept.install', kept.steps.install<Input>(of)),
  uninstall: definition('test.kept.uninstall', kept.steps.uninstall<Input>(of, { data: true })),
}
await platform.compose([{ handlers: [], kinds: { 'nextstack.vm': {} }, operations: Object.values(definitions) }, module])
await platform.jobs.start([platform.operations.job], [platform.operations.jobHandler])
await module.start?.()
await platform.operations.start()

process.on('message', ({ what, id, wanted }: ToKeptServer) => {
  void platform.db
    .transaction()
    .execute(async (tx) => {
      if (wanted !== undefined) await kept.want(tx, { id, node_id: known.EDGE_ID, owner: { kind: 'nextstack.vm', id }, wanted })
      else await kept.leave(tx, id)
      await platform.operations.begin(tx, definitions[what], { resource_id: id, bp_id: null, actor: null, input: {} })
    })
    .then(() => process.send?.({ begun: what }))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
