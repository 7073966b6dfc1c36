import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { ServiceAgent, serviceAgents } from '@zhisuan/contract/ecrm/edge'
import { platformScope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { getEdge } from '../edge/edge.store.ts'
import { dropTopic } from '../edge/presence.ts'
import type { ServiceAgentListeners } from './service-agent.listeners.ts'
import * as store from './service-agent.store.ts'

type Calls = typeof serviceAgents

/** Topic on the bus: there are others now. */
const changedTopic = 'ecrm.serviceAgent.changed'
/** A port that somebody else had is free again by and by. */
const againMs = 10_000

export type ServiceAgentService = ReturnType<typeof createServiceAgents>

export function createServiceAgents({ db, bus, log }: Pick<Platform, 'db' | 'bus' | 'log'>, listeners: ServiceAgentListeners) {
  let applying = Promise.resolve()
  let unsubscribe: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  /** One after the other, each by what the rows say then. */
  const apply = (): Promise<void> => {
    applying = applying
      .then(async () => listeners.apply(await store.allServiceAgents(db)))
      .catch((error: unknown) => log.warn({ err: error }, 'ports that lead to nodes'))
    return applying
  }
  const shape = (row: store.ShownServiceAgent): ServiceAgent => {
    const state = listeners.state(row.id)
    const error = state?.error ?? null
    return {
      id: row.id,
      name: row.name,
      description: row.description,
      edge: { id: row.edge_id, name: row.edge_name },
      target_port: row.target_port,
      listen_port: row.listen_port,
      status: error !== null ? 'error' : row.edge_online ? 'listening' : 'offline',
      error: error === null ? null : new Refusal('servicePortTaken', { values: { port: row.listen_port } }).message,
      connection_count: state?.connections ?? 0,
      created_at: iso(row.created_at),
    }
  }

  return {
    list: (query: QueryOf<Calls['list']>) => shapedPage(store.listServiceAgents(db, query), shape),

    async create(body: BodyOf<Calls['create']>): Promise<ServiceAgent> {
      const edge = await getEdge(db, platformScope, body.edge_id)
      if (edge === undefined || edge.binding !== 'bound') throw new Refusal('edgeUnknown', { field: 'edge_id' })
      const taken = () => new Refusal('servicePortTaken', { field: 'listen_port', values: { port: body.listen_port } })
      const id = uuidv7()
      await refusing({ edge_service_agents_name: ['serviceAgentNameTaken', 'name'], edge_service_agents_port: taken }, () =>
        db.transaction().execute(async (tx) => {
          await store.insertServiceAgent(tx, { id, ...body })
          await bus.publish(tx, changedTopic, id)
        }),
      )
      await apply()
      if (listeners.state(id)?.error !== null) {
        // Another program of this host has it.
        await this.delete(id)
        throw taken()
      }
      return shape(found(await store.getServiceAgent(db, id)))
    },

    async delete(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        if (!(await store.deleteServiceAgent(tx, id))) throw new Refusal('notFound')
        await bus.publish(tx, changedTopic, id)
      })
      await apply()
    },

    async start(): Promise<void> {
      // Those of a node go with it.
      unsubscribe = [changedTopic, dropTopic].map((topic) =>
        bus.subscribe(
          topic,
          () => void apply(),
          () => void apply(),
        ),
      )
      timer = setInterval(() => void apply(), againMs).unref()
      await apply()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      for (const end of unsubscribe) end()
      await applying
      listeners.stop()
    },
  }
}
