import { isEngineError } from '@zhisuan/engines/errors'
import type { Platform } from '../../../platform/platform.ts'
import type { FollowedCloud, Observer } from '../follow/follow.ts'
import * as gpus from './gpu.store.ts'
import * as store from './host.store.ts'

/** How long a host that was taken out of its cluster is shown. */
const goneKeptMs = 7 * 24 * 3600_000

/** Keeps what we know of hosts, and of who has their GPUs, true. It never changes the engine. */
export function createHostObserver({ db, now }: Pick<Platform, 'db' | 'now'>): Observer {
  const look = async ({ id, engine, signal }: FollowedCloud): Promise<void> => {
    // Rows first: whatever an operation changes after this has another revision, and wins.
    const rows = await store.rowsOfCloud(db, id)
    const list = await engine.hosts.list({ signal }).catch(async (error: unknown) => {
      if (isEngineError(error, 'unreachable'))
        await store.recordAbsent(
          db,
          rows.filter(({ observed }) => observed !== 'gone').map((row) => row.id),
          'offline',
          '',
        )
      throw error
    })
    const clustered = list.length > 1 || list.some(({ address }) => address !== null)
    const withCards = new Map<string, string>()
    for (const host of list) {
      const row = await store.recordHost(
        db,
        id,
        clustered,
        host,
        rows.find(({ name }) => name === host.name),
      )
      if (!store.answers(host)) continue
      await gpus.recordGpus(db, row, host.gpus)
      if (host.gpus.length > 0) withCards.set(host.name, row)
    }
    const there = new Set(list.map(({ name }) => name))
    await store.recordAbsent(
      db,
      rows.filter(({ name }) => !there.has(name)).map((row) => row.id),
      'gone',
      '',
    )
    await store.deleteGone(db, id, new Date(now().getTime() - goneKeptMs))
    if (withCards.size === 0) return
    const others = (await engine.instances.list({ signal })).filter((instance) => instance.gpus.length > 0 && instance.tags['vm_id'] === undefined)
    for (const [name, row] of withCards) {
      const here = others.filter(({ location }) => !clustered || location === name)
      await gpus.recordTaken(db, row, new Map(here.flatMap((instance) => instance.gpus.map((pci) => [pci, instance.name]))))
    }
  }

  return {
    name: 'hosts',
    concerns: (event) => (event.type === 'object' && event.kind === 'member' ? event.name : null),
    // Members are listed all at once anyway.
    look: (cloud) => look(cloud),
  }
}
