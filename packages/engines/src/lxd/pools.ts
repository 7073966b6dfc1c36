import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { isEngineError } from '../errors.ts'
import type { Pool } from '../storage.ts'
import { parse } from './parse.ts'
import type { Transport } from './transport.ts'

/** LXD REST API `GET /1.0/storage-pools`. */
const pool = z.object({ name: z.string(), description: z.string().nullish(), status: z.string().nullish(), driver: z.string().nullish() })
export type LxdPool = z.output<typeof pool>
const resources = z.object({ space: z.object({ total: z.number(), used: z.number() }) })

const sharedDrivers = new Set(['ceph', 'cephfs', 'cephobject', 'powerflex', 'pure', 'linstor', 'lvmcluster', 'truenas'])
const isUsable = ({ status }: LxdPool): boolean => /^(created)?$/i.test(status ?? '')

export interface Pools {
  /** Those that can be used. */
  usable(options: CallOptions): Promise<LxdPool[]>
  /** One entry for each member that has its own; a shared pool is one, however many members see it. */
  spaces(pool: LxdPool, options: CallOptions): Promise<Pool['members']>
  list(options: CallOptions): Promise<Pool[]>
}

/** `members`: names of the cluster's members; one that is null where there is no cluster. */
export function createPools(transport: Transport, members: (options: CallOptions) => Promise<readonly (string | null)[]>): Pools {
  const all = async (options: CallOptions): Promise<LxdPool[]> => {
    const { metadata } = await transport.ask('/1.0/storage-pools', { query: { recursion: '1' }, signal: options.signal })
    return parse(z.array(pool), metadata, 'storage pools')
  }
  const spaces: Pools['spaces'] = async ({ name, driver }, options) => {
    const asked = sharedDrivers.has(driver ?? '') ? [null] : await members(options)
    return Promise.all(
      asked.map(async (member) => {
        const query = member === null ? {} : { target: member }
        const { metadata } = await transport.ask(`/1.0/storage-pools/${encodeURIComponent(name)}/resources`, { query, signal: options.signal })
        const { space } = parse(resources, metadata, 'pool')
        return { member, totalBytes: space.total, usedBytes: space.used }
      }),
    )
  }
  const shape = async (raw: LxdPool, options: CallOptions): Promise<Pool> => {
    const of = isUsable(raw) ? await spaces(raw, options) : []
    return {
      name: raw.name,
      description: raw.description ?? '',
      driver: raw.driver ?? '',
      shared: sharedDrivers.has(raw.driver ?? ''),
      status: raw.status ?? '',
      totalBytes: of.reduce((sum, one) => sum + one.totalBytes, 0),
      usedBytes: of.reduce((sum, one) => sum + one.usedBytes, 0),
      // A folder has no size, unless the file system below counts quotas by project, which nobody tells.
      enforcesSize: raw.driver !== 'dir',
      // LXD and Incus refuse it whatever the driver could.
      restoresInUse: false,
      members: of,
    }
  }
  return {
    spaces,
    usable: async (options) => (await all(options)).filter(isUsable),
    async list(options) {
      const shaped = (await all(options)).map(async (raw) => {
        try {
          return await shape(raw, options)
        } catch (error) {
          // Deleted since it was listed.
          if (isEngineError(error, 'not_found')) return null
          throw error
        }
      })
      return (await Promise.all(shaped)).filter((one) => one !== null)
    },
  }
}
