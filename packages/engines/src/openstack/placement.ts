import { z } from 'zod'
import { isEngineError } from '../errors.ts'
import type { Session } from './session.ts'

const provider = z
  .object({ uuid: z.string(), name: z.string(), generation: z.number(), root_provider_uuid: z.string().nullish() })
  .transform((raw) => ({ id: raw.uuid, name: raw.name, generation: raw.generation, rootId: raw.root_provider_uuid ?? raw.uuid }))
/** A host, a part of one, or a store that several share. */
export type ResourceProvider = z.output<typeof provider>

const inventory = z
  .object({ total: z.number(), reserved: z.number().nullish(), allocation_ratio: z.number().nullish() })
  .transform((raw) => ({ total: raw.total, reserved: raw.reserved ?? 0, allocationRatio: raw.allocation_ratio ?? 1 }))
export type Inventory = z.output<typeof inventory>
/** By resource class: `VCPU`, `PCPU`, `MEMORY_MB`, `DISK_GB` and others. */
export type Inventories = Readonly<Record<string, Inventory>>

const at = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`

/** Placement (https://docs.openstack.org/api-ref/placement/), for administrators. */
export function createPlacement(session: Session) {
  const providers = async (query: { name?: string; required?: string }, signal?: AbortSignal): Promise<ResourceProvider[]> =>
    (await session.json('placement', z.object({ resource_providers: z.array(provider) }), { path: '/resource_providers', query, signal })).resource_providers
  return {
    providers: {
      list: (query: { name?: string } = {}, signal?: AbortSignal) => providers(query, signal),
      /** Without those of hosts that take no instances: Nova marks them by a trait, since Train. */
      async enabled(signal?: AbortSignal): Promise<ResourceProvider[]> {
        let listed: ResourceProvider[]
        try {
          listed = await providers({ required: '!COMPUTE_STATUS_DISABLED' }, signal)
        } catch (error) {
          // It does not know the trait, or not that one can be left out.
          if (!isEngineError(error, 'invalid')) throw error
          return providers({}, signal)
        }
        const roots = new Set(listed.map(({ id }) => id))
        return listed.filter(({ rootId }) => roots.has(rootId))
      },
    },
    async inventories(providerId: string, signal?: AbortSignal): Promise<Inventories> {
      return (
        await session.json('placement', z.object({ inventories: z.record(z.string(), inventory) }), {
          path: at('resource_providers', providerId, 'inventories'),
          signal,
        })
      ).inventories
    },
    async usages(providerId: string, signal?: AbortSignal): Promise<Readonly<Record<string, number>>> {
      return (
        await session.json('placement', z.object({ usages: z.record(z.string(), z.number()) }), {
          path: at('resource_providers', providerId, 'usages'),
          signal,
        })
      ).usages
    },
  }
}
export type Placement = ReturnType<typeof createPlacement>
