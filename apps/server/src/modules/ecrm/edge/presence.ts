import { setTimeout as sleep } from 'node:timers/promises'
import { agentPaths, nodeFacts, nodeMetrics, type NodeFacts } from '@zhisuan/contract/agent/node'
import type { DockerTrouble } from '@zhisuan/contract/ecrm/edge'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { createTunnels, newIdentity, openIdentity, type Tunnels } from '../../../platform/tunnel/tunnels.ts'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'
import { isConnectionError } from '../../../platform/db/connections.ts'
import { gathered } from '../gathered.ts'
import { followDocker } from './docker.follow.ts'
import { keysOfEdges } from './edge.store.ts'
import { readIdentity } from './identity.store.ts'
import { sampleEveryMs } from './edge.metrics.ts'
import type { EdgeMetrics } from './edge.minutes.ts'
import { connectedTo, dropLost, forgetServer, forgetServers, setConnected, setDisconnected, setDocker, setFacts, tellServer } from './presence.store.ts'

const compareEveryMs = 2_000
const factsEveryMs = 60 * 60_000
const factsAgainMs = 10_000
const askTimeoutMs = 8_000

/** Topic on the bus: the node of this id may be connected no more. Whichever server has it lets go of it. */
export const dropTopic = 'ecrm.edge.drop'

interface Here {
  readonly tunnel: Tunnel
  readonly end: AbortController
  /** What was heard last of its Docker. */
  docker?: DockerTrouble | null
}

/** Which nodes are connected, here and by what the rows say; what they are and how they are. */
export function createPresence(platform: Platform, parts: { metrics: Pick<EdgeMetrics, 'record'>; came?: (tunnel: Tunnel) => void }) {
  const { db, log, bus } = platform
  const { metrics } = parts
  const serverId = uuidv7()
  const here = new Map<string, Here>()
  /** Nodes of which it is to be written whether they are here. */
  const writing = new Set<string>()
  let last: Promise<unknown> = Promise.resolve()
  let tunnels: Tunnels | null = null
  let timer: NodeJS.Timeout | undefined
  let stopping = false
  let unsubscribe: () => void = () => undefined

  const warn = (error: unknown, what: string): void => {
    if (!isConnectionError(error)) log.warn({ err: error }, what)
  }
  /** Brings rows to what is true by the time they are written: of many changes of a node the last counts. */
  const written = gathered(async (ids: readonly string[]): Promise<ReadonlyMap<string, void>> => {
    const versions = new Map(ids.flatMap((id) => (here.has(id) ? [[id, here.get(id)?.tunnel.version ?? ''] as const] : [])))
    const gone = ids.filter((id) => !versions.has(id))
    const known = versions.size === 0 ? new Set() : await setConnected(db, serverId, versions)
    // Unbound between its proof and now.
    for (const id of versions.keys()) if (!known.has(id)) tunnels?.drop(id)
    if (gone.length > 0) await setDisconnected(db, serverId, gone)
    return new Map()
  })
  const write = (edgeId: string): void => {
    writing.add(edgeId)
    last = written(edgeId)
      .catch((error: unknown) => warn(error, 'whether a node is connected'))
      .finally(() => writing.delete(edgeId))
  }

  const keyOf = gathered((ids: readonly string[]) => keysOfEdges(db, ids))
  /** What was said last counts. */
  const facts = new Map<string, string>()
  const factsWritten = gathered(async (ids: readonly string[]): Promise<ReadonlyMap<string, void>> => {
    const said = new Map(ids.flatMap((id) => (facts.has(id) ? [[id, facts.get(id) ?? ''] as const] : [])))
    for (const id of ids) facts.delete(id)
    await setFacts(db, said)
    return new Map()
  })

  const troubles = new Map<string, DockerTrouble | null>()
  const dockerWritten = gathered(async (ids: readonly string[]): Promise<ReadonlyMap<string, boolean>> => {
    const changed = await setDocker(db, new Map(ids.map((id) => [id, troubles.get(id) ?? null])))
    return new Map(ids.map((id) => [id, changed.has(id)]))
  })

  const askFactsOnce = async (tunnel: Tunnel, signal: AbortSignal): Promise<NodeFacts> => {
    const said = await tunnel.json(nodeFacts, { path: agentPaths.facts, signal })
    facts.set(tunnel.edgeId, JSON.stringify(said))
    await factsWritten(tunnel.edgeId)
    return said
  }
  /** Asks what the node is until it says the same of its Docker: one that stops answers a while longer, one that starts not yet. */
  const askFactsOfDocker = async (edgeId: string, seen: Here): Promise<void> => {
    const { docker, tunnel, end } = seen
    for (let wait = 1_000; seen.docker === docker && !end.signal.aborted; wait = Math.min(wait * 2, factsEveryMs)) {
      try {
        const said = await askFactsOnce(tunnel, end.signal)
        if ((said.docker === null) === (docker !== null)) return
      } catch (error) {
        if (!end.signal.aborted) log.debug({ err: error, edge: edgeId }, 'facts of a node')
      }
      await sleep(wait, undefined, { signal: end.signal, ref: false }).catch(() => undefined)
    }
  }
  /** Asks what the node is until it has said so, and once an hour again. */
  const askFacts = async (tunnel: Tunnel, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      let wait = factsEveryMs
      try {
        await askFactsOnce(tunnel, signal)
      } catch (error) {
        if (signal.aborted) return
        log.debug({ err: error, edge: tunnel.edgeId }, 'facts of a node')
        wait = factsAgainMs
      }
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  const askMetrics = async (tunnel: Tunnel, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const began = Date.now()
      try {
        metrics.record(tunnel.edgeId, await tunnel.json(nodeMetrics, { path: agentPaths.metrics, signal, timeoutMs: askTimeoutMs }))
      } catch (error) {
        if (!signal.aborted) log.debug({ err: error, edge: tunnel.edgeId }, 'metrics of a node')
      }
      await sleep(Math.max(0, sampleEveryMs - (Date.now() - began)), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const followDockerOf = (seen: Here): Promise<void> => {
    const { edgeId } = seen.tunnel
    const told = async (trouble: DockerTrouble | null): Promise<void> => {
      troubles.set(edgeId, trouble)
      if ((await dockerWritten(edgeId)) !== true) return
      // What Docker it is belongs to its facts.
      seen.docker = trouble
      void askFactsOfDocker(edgeId, seen)
    }
    return followDocker(seen.tunnel, told, seen.end.signal)
  }

  const up = (tunnel: Tunnel): void => {
    const { edgeId } = tunnel
    here.get(edgeId)?.end.abort()
    const end = new AbortController()
    const seen: Here = { tunnel, end }
    here.set(edgeId, seen)
    write(edgeId)
    void askFacts(tunnel, end.signal)
    void askMetrics(tunnel, end.signal)
    void followDockerOf(seen)
    parts.came?.(tunnel)
  }
  const down = (edgeId: string): void => {
    here.get(edgeId)?.end.abort()
    here.delete(edgeId)
    troubles.delete(edgeId)
    if (!stopping) write(edgeId)
  }

  /** What the rows say and what is, brought together: also after the database was away. */
  const compare = async (): Promise<void> => {
    await tellServer(db, serverId)
    await dropLost(db)
    const said = new Set(await connectedTo(db, serverId))
    for (const edgeId of here.keys()) if (!said.has(edgeId) && !writing.has(edgeId)) write(edgeId)
    for (const edgeId of said) if (!here.has(edgeId) && !writing.has(edgeId)) write(edgeId)
  }
  const loop = async (): Promise<void> => {
    await compare().catch((error: unknown) => warn(error, 'comparing which nodes are connected'))
    if (!stopping) timer = setTimeout(() => void loop(), compareEveryMs).unref()
  }

  return {
    /** Null until started. */
    tunnels: () => tunnels,
    async start(): Promise<void> {
      // Beside an embedded database there is no other server.
      if (platform.config.DATABASE_URL === undefined) await forgetServers(db)
      const identity = openIdentity(await readIdentity(db, platform.secrets, newIdentity))
      await tellServer(db, serverId)
      await dropLost(db)
      tunnels = createTunnels({ identity, log, keeper: { keyOf: async (edgeId) => (await keyOf(edgeId)) ?? null, up, down } })
      unsubscribe = bus.subscribe(dropTopic, (edgeId) => tunnels?.drop(edgeId))
      timer = setTimeout(() => void loop(), compareEveryMs).unref()
    },
    /** Lets agents go, so that a stop does not wait for them. */
    drain(): void {
      stopping = true
      tunnels?.stop()
      for (const { end } of here.values()) end.abort()
    },
    async stop(): Promise<void> {
      stopping = true
      clearTimeout(timer)
      unsubscribe()
      tunnels?.stop()
      // They are written in order.
      await last
      await forgetServer(db, serverId).catch(() => undefined)
    },
  }
}
