import { randomUUID } from 'node:crypto'
import { connect } from 'node:http2'
import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { freePort, startKept } from '../../../../agent/src/kept/kept.testing.ts'
import { freshDatabase } from '../../testing/database.ts'
import { readConfig } from '../config.ts'
import { Refusal } from '../errors.ts'
import { createLog } from '../log.ts'
import type { OperationDefinition, OperationStep } from '../operations.ts'
import { openPlatform, type OpenedPlatform } from '../platform.ts'
import { openTunnel, type Tunnel } from '../tunnel/tunnel.ts'
import { createKept, type Kept, type KeptProgram } from './kept.ts'

const nodeId = randomUUID()
const ownerKind = 'nextstack.vm'

/** One server's worth of platform, that keeps programs on the agent. */
interface Server {
  readonly platform: OpenedPlatform
  readonly kept: Kept
  readonly changes: string[]
  do(what: keyof typeof verbs, id: string, wanted?: KeptWanted): Promise<string>
  stop(): Promise<void>
}

/** What an operation is begun with, and its steps. */
const verbs = {
  install: (kept: Kept, id: string): OperationStep<Input>[] => kept.steps.install(() => id, { healthyWithinMs: 15_000 }),
  change: (kept: Kept, id: string): OperationStep<Input>[] => kept.steps.change(() => id, { healthyWithinMs: 1_500 }),
  restart: (kept: Kept, id: string): OperationStep<Input>[] => kept.steps.restart(() => id),
  start: (kept: Kept, id: string): OperationStep<Input>[] => kept.steps.start(() => id),
  stop: (kept: Kept, id: string): OperationStep<Input>[] => kept.steps.stop(() => id),
  reload: (kept: Kept, id: string): OperationStep<Input>[] => kept.steps.reload(() => id),
  uninstall: (kept: Kept, id: string): OperationStep<Input>[] => kept.steps.uninstall(() => id, { data: true }),
}
interface Input {
  readonly kept_id: string
}
const input = z.object({ kept_id: z.string() })

/** The steps of whichever program: they are looked up when they run, as those of a module are. */
const definitionOf = (kept: Kept, verb: keyof typeof verbs): OperationDefinition<Input> => ({
  kind: `test.thing.${verb}`,
  resource_type: ownerKind,
  input,
  steps: verbs[verb](kept, '').map((step, index) => ({
    ...step,
    reached: 'looks',
    run: async (context) => verbs[verb](kept, context.input.kept_id)[index]?.run(context),
  })),
  ...(verb === 'install' && { undo: kept.undoInstall<Input>(({ resource_id }) => resource_id) }),
  ended: (tx, { resource_id }, refusal) => kept.settle(tx, resource_id, refusal),
})

/** A node with the agent's own code, which may go and come, and servers on a database of their own that keep programs there. */
export async function startWorld() {
  const database = await freshDatabase({ schema: false })
  const agent = await startKept()
  const port = await freePort()
  let tunnel: Tunnel | null = null
  const up: (() => void)[] = []
  const servers = new Set<Server>()

  const offline = () => new Refusal('edgeOffline', { values: { name: 'n' } })

  const start = async (): Promise<Server> => {
    const config = readConfig({ ZHISUAN_ENV: 'test', DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4', SECRET_KEY: Buffer.alloc(32, 7).toString('base64') })
    const platform = await openPlatform(config, createLog({ LOG_LEVEL: 'silent' }))
    const module = createKept(
      platform,
      {
        reach: async () => {
          if (tunnel === null) throw offline()
          return { name: '节点一', tunnel }
        },
        connected: () => tunnel,
        onUp: (told) => void up.push(() => tunnel !== null && told(tunnel)),
        work: async (_, signal, act) => {
          for (;;) {
            if (tunnel !== null) return act({ name: '节点一', tunnel })
            await platform.pause(20, signal)
          }
        },
      },
      { everyMs: 200, silentMs: 1_000, againMs: 300, healthyMs: 10_000 },
    )
    const definitions = Object.fromEntries(Object.keys(verbs).map((verb) => [verb, definitionOf(module.kept, verb as keyof typeof verbs)])) as Record<
      keyof typeof verbs,
      OperationDefinition<Input>
    >
    await platform.compose([{ handlers: [], kinds: { [ownerKind]: {} }, operations: Object.values(definitions) }, module])
    const changes: string[] = []
    module.kept.onChange(({ status }, before) => changes.push(`${before} → ${status}`))
    await platform.jobs.start([platform.operations.job], [platform.operations.jobHandler])
    await module.start?.()
    await platform.operations.start()
    const server: Server = {
      platform,
      kept: module.kept,
      changes,
      do: (what, id, wanted) =>
        platform.db.transaction().execute(async (tx) => {
          if (what === 'install' && wanted !== undefined) await module.kept.want(tx, { id, node_id: nodeId, owner: { kind: ownerKind, id }, wanted })
          if (what === 'change' && wanted !== undefined) await module.kept.change(tx, id, wanted)
          if (what === 'uninstall') await module.kept.leave(tx, id)
          return platform.operations.begin(tx, definitions[what], { resource_id: id, bp_id: null, actor: null, input: { kept_id: id } })
        }),
      async stop() {
        servers.delete(server)
        await module.stop?.()
        await platform.close()
      },
    }
    servers.add(server)
    return server
  }

  const come = (): void => {
    const session = connect(agent.url())
    session.on('error', () => undefined)
    tunnel = openTunnel({ edgeId: nodeId, version: '0.1.0', session, close: () => session.destroy() })
    for (const told of up) told()
  }
  const go = (): void => {
    tunnel?.close(0)
    tunnel = null
  }

  const operationOf = async ({ platform }: Server, id: string) => {
    const row = await platform.db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    return { ...row, ...platform.operations.said(row) }
  }
  const ended = (server: Server, id: string) =>
    vi.waitFor(
      async () => {
        const row = await operationOf(server, id)
        expect(['succeeded', 'failed']).toContain(row.status)
        return row
      },
      { interval: 20 },
    )
  const becomes = (server: Server, id: string, so: Partial<KeptProgram>): Promise<KeptProgram> =>
    vi.waitFor(
      async () => {
        const program = await server.kept.get(server.platform.db, id)
        expect(program).toMatchObject(so)
        // Just asserted.
        return program as KeptProgram
      },
      { interval: 20 },
    )
  const isListening = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
  const pidOf = async (): Promise<number> => ((await (await fetch(`http://127.0.0.1:${port}/`)).json()) as { pid: number }).pid

  come()
  return {
    agent,
    port,
    nodeId,
    ownerKind,
    start,
    come,
    go,
    operationOf,
    ended,
    becomes,
    isListening,
    pidOf,
    async stop(): Promise<void> {
      for (const server of servers) await server.stop()
      go()
      await agent.stop()
      await database.drop()
    },
  } as const
}
export type World = Awaited<ReturnType<typeof startWorld>>
