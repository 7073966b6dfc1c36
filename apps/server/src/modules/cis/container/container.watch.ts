import { setTimeout as sleep } from 'node:timers/promises'
import type { Docker } from '@zhisuan/engines/docker/types'
import type { Logger } from 'pino'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db, Sql } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { gatherLooks } from '../../../platform/looks.ts'
import type { Secrets } from '../../../platform/secrets.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import { putFile } from '../config/config.files.ts'
import { staleFiles } from '../config/config.store.ts'
import { containerLabel } from './container.body.ts'
import { madeOn, observe, type Made } from './container.docker.ts'
import * as store from './container.store.ts'
import type { ContainerRow } from './container.store.ts'

/** Which nodes are to be watched is asked this often; the first container of a node that is there is seen so. */
const adjustEveryMs = 1_000
/** Everything is looked at again this often, whatever the events said. */
const everythingEveryMs = 60_000
const againMs = 1_000
/** So many containers are asked about at once. */
const atOnce = 8

/** Who keeps something true to the containers of nodes: a kind of rows. */
export interface ContainerObserver {
  /** What an event is about, by the labels of its container; null where that is none of these rows. */
  subject(labels: Readonly<Record<string, string>>): string | null
  /** Which nodes have any, and are there now. */
  nodes(on: Sql): Promise<string[]>
  /** Looks at these subjects on a node, or at all of them, and records what is so. */
  look(at: { edge_id: string; docker: Docker; subjects: readonly string[] | null; signal: AbortSignal }): Promise<void>
}

interface Watched {
  readonly stop: AbortController
  readonly tunnel: unknown
  /** Everything. */
  look(): void
}

/**
 * Keeps rows true to what the Docker of each node has, by one subscription for each node that all
 * observers share: whatever changes there, by whomever, shows here. Brings configs to where they are behind.
 */
export function createContainerWatch(parts: { db: Db; secrets: Secrets; edges: Pick<EdgeReach, 'reach' | 'connected' | 'onUp'>; log: Logger }) {
  const { db, secrets, edges, log } = parts
  const watched = new Map<string, Watched>()
  const observers: ContainerObserver[] = []
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined

  const compare = async (edgeId: string, docker: Docker, ids: readonly string[] | null, signal: AbortSignal): Promise<void> => {
    // Rows first: whatever an operation changes after this has another revision, and wins.
    const rows = await store.settledOn(db, edgeId, ids)
    if (rows.length === 0) return
    const made = Map.groupBy(await madeOn(docker, null, signal), ({ id }) => id)
    for (let first = 0; first < rows.length; first += atOnce) {
      await Promise.all(rows.slice(first, first + atOnce).map((row) => compareOne(docker, row, made.get(row.id) ?? [], signal)))
    }
  }

  /** What nobody could take back while the node was away; not while somebody works on it. */
  const clear = (docker: Docker, row: ContainerRow, left: readonly Made[], signal: AbortSignal): Promise<void> =>
    db.transaction().execute(async (tx) => {
      if (await store.holdSettled(tx, row)) for (const { docker_id } of left) await docker.containers.remove(docker_id, { force: true, volumes: true, signal })
    })

  const compareOne = async (docker: Docker, row: ContainerRow, made: readonly Made[], signal: AbortSignal): Promise<void> => {
    // One that could not be made has nothing there; of one that could not be made anew it is the former.
    const failed = row.status === 'error' && row.docker_id === null
    const one = failed ? undefined : (made.find(({ generation }) => generation === row.generation) ?? made[0])
    const left = made.filter((other) => other !== one)
    if (left.length > 0) await clear(docker, row, left, signal)
    const seen = one === undefined ? null : await observe(docker, one.docker_id, signal)
    if (seen === null) {
      // It failed to be made, and nothing is there: that is how it should be.
      if (row.status !== 'error' && row.status !== 'lost') await store.recordObservation(db, row, { status: 'lost', health: null })
      return
    }
    const same =
      row.status === seen.status &&
      row.docker_id === seen.docker_id &&
      row.health === seen.health &&
      row.exit_code === seen.exit_code &&
      row.out_of_memory === seen.out_of_memory &&
      row.restart_count === seen.restart_count &&
      row.started_at?.getTime() === seen.started_at?.getTime()
    if (!same) await store.recordObservation(db, row, seen)
  }

  /** Configs whose text changed: the file first, then the restart that was wished with it. */
  const bringConfigs = async (edgeId: string, docker: Docker, signal: AbortSignal): Promise<void> => {
    const stale = await staleFiles(db, { edge_id: edgeId })
    for (const [containerId, files] of Map.groupBy(stale, ({ container_id }) => container_id)) {
      const row = await store.getContainerRow(db, containerId)
      if (row === undefined || row.docker_id === null) continue
      const dockerId = row.docker_id
      try {
        for (const file of files)
          await putFile({ db, secrets, docker, signal }, dockerId, file, async () => {
            if (file.restart && row.status === 'running') await docker.containers.restart(dockerId, { signal })
          })
      } catch (error) {
        // The next look tries again; another container's files do not wait for this one.
        if (!signal.aborted) log.warn({ err: error, container: containerId }, 'bringing a config to a container')
      }
    }
  }

  observers.push({
    subject: (labels) => labels[containerLabel] ?? null,
    nodes: store.nodesToWatch,
    async look({ edge_id, docker, subjects, signal }) {
      await compare(edge_id, docker, subjects, signal)
      if (subjects === null) await bringConfigs(edge_id, docker, signal)
    },
  })

  const watch = (edgeId: string): Watched => {
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, stopping.signal])
    const docker = async (): Promise<Docker> => (await edges.reach(platformScope, edgeId)).docker
    const lookers = observers.map((observer) => ({
      observer,
      look: gatherLooks(
        signal,
        async (subjects) => observer.look({ edge_id: edgeId, docker: await docker(), subjects, signal }),
        (error) => {
          // Away, or without Docker: what comes next, or the next minute, looks again.
          if (!isAway(error)) log.warn({ err: error, edge: edgeId }, 'looking at the containers of a node')
        },
      ),
    }))
    const look = (): void => {
      for (const one of lookers) one.look(null)
    }

    const follow = async (): Promise<void> => {
      while (!signal.aborted) {
        try {
          const engine = await docker()
          for await (const event of engine.events({ types: ['container'], signal, onOpen: look })) {
            // Not every keystroke in a terminal, nor every check of health that says the same.
            if (event.action.startsWith('exec_')) continue
            for (const one of lookers) {
              const subject = one.observer.subject(event.attributes)
              if (subject !== null) one.look(subject)
            }
          }
        } catch (error) {
          if (!signal.aborted && !isAway(error)) log.debug({ err: error, edge: edgeId }, 'events of a node')
        }
        await sleep(againMs, undefined, { signal }).catch(() => undefined)
      }
    }
    const minutely = async (): Promise<void> => {
      while (!signal.aborted) {
        await sleep(everythingEveryMs, undefined, { signal, ref: false }).catch(() => undefined)
        if (!signal.aborted) look()
      }
    }
    void follow()
    void minutely()
    return { stop, tunnel: edges.connected(edgeId), look }
  }

  /** Watches the nodes that are connected here and have containers, and no others. */
  const adjust = async (): Promise<void> => {
    const nodes = await Promise.all(observers.map((observer) => observer.nodes(db)))
    const wanted = new Set(nodes.flat().filter((id) => edges.connected(id) !== null))
    for (const [id, { stop, tunnel }] of watched) {
      if (wanted.has(id) && edges.connected(id) === tunnel) continue
      stop.abort()
      watched.delete(id)
    }
    for (const id of wanted) if (!watched.has(id) && !stopping.signal.aborted) watched.set(id, watch(id))
  }
  const loop = async (): Promise<void> => {
    await adjust().catch((error: unknown) => log.debug({ err: error }, 'adjusting which nodes are watched'))
    if (!stopping.signal.aborted) timer = setTimeout(() => void loop(), adjustEveryMs).unref()
  }

  return {
    /** Whoever has other rows of containers says so, before it starts. */
    observe: (observer: ContainerObserver): void => void observers.push(observer),
    /** Something is to be seen or brought there: all of it. Where the node is away, its return does it. */
    poke: (edgeId: string): void => watched.get(edgeId)?.look(),
    start(): void {
      void loop()
    },
    stop(): void {
      clearTimeout(timer)
      stopping.abort()
    },
  }
}

const isAway = (error: unknown): boolean => error instanceof Refusal && (error.refusal === 'edgeOffline' || error.refusal === 'notFound')
