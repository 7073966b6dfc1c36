import { z } from 'zod'
import { EngineError, isEngineError } from '../errors.ts'
import { hostsCapacity, hypervisorStatistics, ifAllowed, volumePools, type Amount, type HostsCapacity } from './capacity.ts'
import type { OpenStack } from './cloud.ts'
import { OpenStackError, type Service } from './errors.ts'
import { createPlacement, type Inventories } from './placement.ts'

/** How a service answered that was asked by itself. */
export interface ServiceAnswer {
  readonly service: Service
  /** `missing`: the catalogue has none for the region and interface. */
  readonly state: 'works' | 'missing' | 'failed'
  /** Newest version of its API that it offers. */
  readonly version: string | null
  readonly address: string | null
  readonly tookMs: number
  readonly error: OpenStackError | null
}

export interface Looked {
  readonly access: {
    /** May see all projects, and so make some. */
    readonly administrator: boolean
    readonly roles: readonly string[]
    readonly regions: readonly string[]
  }
  readonly services: readonly ServiceAnswer[]
  /** Null where Nova did not tell, or tells only administrators. Without Placement, or its answer, no more is promised than there is. */
  readonly hosts: HostsCapacity | null
  /** Of Cinder's pools; null where it did not tell. */
  readonly pools: Amount | null
}

/** Versions change when a cloud is upgraded. */
const versionsKeptMs = 3_600_000

/**
 * Looks at a whole cloud, as often as one likes: each service gets one cheap question, all at once,
 * and none waits for another. What changes seldom is remembered between two looks.
 */
export function createLook(cloud: OpenStack) {
  const { session } = cloud
  const placement = createPlacement(session)
  const versions = new Map<Service, { version: string | null; until: number }>()
  let inventories: ReadonlyMap<string, { generation: number; is: Inventories }> = new Map()

  /** What providers have changes seldom, and their generation tells it. */
  const inventoriesNow = async (signal: AbortSignal): Promise<Inventories[]> => {
    const known = inventories
    const now = new Map<string, { generation: number; is: Inventories }>()
    const providers = await placement.providers.enabled(signal)
    await Promise.all(
      providers.map(async ({ id, generation }) => {
        const before = known.get(id)
        now.set(id, before?.generation === generation ? before : { generation, is: await placement.inventories(id, signal) })
        // What is known stays known, also where not all of it arrived in time.
        inventories = new Map([...inventories, ...now])
      }),
    )
    inventories = now
    return [...now.values()].map(({ is }) => is)
  }

  const offered = async (service: Service, signal: AbortSignal): Promise<string | null> => {
    const known = versions.get(service)
    if (known !== undefined && known.until > Date.now()) return known.version
    const version = await session.offered(service, signal)
    versions.set(service, { version, until: Date.now() + versionsKeptMs })
    return version
  }

  const rows = (key: string) => z.object({ [key]: z.array(z.unknown()) })
  const questions = {
    // A name that no project has: it is about whether we may ask.
    identity: (signal) => ifAllowed(session.json('identity', rows('projects'), { path: '/projects', query: { name: '-' }, signal })),
    compute: async (signal) => {
      const told = await ifAllowed(hypervisorStatistics(session, signal))
      if (told === null) await session.json('compute', rows('servers'), { path: '/servers', query: { limit: 1 }, signal })
      return told
    },
    placement: (signal) => ifAllowed(inventoriesNow(signal)),
    image: (signal) => session.json('image', rows('images'), { path: '/images', query: { limit: 1 }, signal }),
    network: (signal) => session.json('network', rows('networks'), { path: '/networks', query: { limit: 1, fields: 'id' }, signal }),
    volume: async (signal) => {
      const allowed = await ifAllowed(volumePools(session, signal).then((pools) => ({ pools })))
      if (allowed === null) await session.json('volume', rows('volumes'), { path: '/volumes', query: { limit: 1 }, signal })
      return allowed?.pools ?? null
    },
  } as const satisfies Record<Service, (signal: AbortSignal) => Promise<unknown>>

  /**
   * @param limitMs for each service, and for signing in
   * @throws OpenStackError where Keystone does not let us in
   */
  return async (limitMs: number, signal?: AbortSignal): Promise<Looked> => {
    const limited = async <T>(service: Service, asked: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      const limit = AbortSignal.timeout(limitMs)
      try {
        return await asked(signal === undefined ? limit : AbortSignal.any([limit, signal]))
      } catch (error) {
        const requestId = error instanceof OpenStackError ? error.requestId : 'before any request'
        if (limit.aborted && isEngineError(error, 'cancelled'))
          throw new OpenStackError('unreachable', `no answer within ${limitMs} ms`, { cloud: cloud.session.cloud, service, requestId }, { cause: error })
        throw error
      }
    }
    const [{ roles }, regions] = await limited('identity', (within) => Promise.all([session.whoami(within), session.regions(within)]))

    const ask = async <Name extends Service>(
      service: Name,
    ): Promise<{ answer: ServiceAnswer; value: Awaited<ReturnType<(typeof questions)[Name]>> | null }> => {
      const began = performance.now()
      let address: string | null = null
      const answer = (state: ServiceAnswer['state'], version: string | null, error: OpenStackError | null): ServiceAnswer => ({
        service,
        state,
        version,
        address,
        tookMs: Math.round(performance.now() - began),
        error,
      })
      try {
        address = await session.address(service)
        const [version, value] = await limited(service, (within) => Promise.all([offered(service, within), questions[service](within)]))
        // TypeScript does not follow a question's name to its answer.
        return { answer: answer('works', version, null), value: value as Awaited<ReturnType<(typeof questions)[Name]>> }
      } catch (error) {
        if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
        if (address === null && error.kind === 'unsupported') return { answer: answer('missing', null, null), value: null }
        const known =
          error instanceof OpenStackError
            ? error
            : new OpenStackError(error.kind, error.message, { cloud: session.cloud, service, requestId: 'before any request' }, { cause: error })
        return { answer: answer('failed', versions.get(service)?.version ?? null, known), value: null }
      }
    }
    const [identity, compute, providers, image, network, volume] = await Promise.all([
      ask('identity'),
      ask('compute'),
      ask('placement'),
      ask('image'),
      ask('network'),
      ask('volume'),
    ])
    return {
      access: { administrator: identity.value !== null, roles, regions },
      services: [identity, compute, providers, image, network, volume].map(({ answer }) => answer),
      hosts: compute.value === null ? null : hostsCapacity(compute.value, providers.value),
      pools: volume.value,
    }
  }
}
export type Look = ReturnType<typeof createLook>
