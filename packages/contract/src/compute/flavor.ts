import { z } from 'zod'
import { defineCall } from '../define.ts'
import { lineOf } from '../line.ts'
import { tenants } from '../roles.ts'
import { cloudId, inCloud } from './ids.ts'

/** A size that instances of a cloud come in, as Nova keeps it. */
export const computeFlavor = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  vcpus: z.int(),
  memory_bytes: z.int(),
  /** Root disk, where the instance is not started from a volume; 0: as big as the image. */
  disk_bytes: z.int(),
  ephemeral_bytes: z.int(),
  swap_bytes: z.int(),
  /** Everybody's, not of single projects. */
  public: z.boolean(),
  /** What the scheduler is told, such as `pci_passthrough:alias`. Empty for who may not see it. */
  extra_specs: z.record(z.string(), z.string()),
})
export type ComputeFlavor = z.output<typeof computeFlavor>

/**
 * Cards that a size brings, by what the cloud calls them: devices of hosts by their alias (`a100:2,t4:1`), and shares
 * of a card as `VGPU`. Source: Nova's extra specs `pci_passthrough:alias` and `resources:VGPU`.
 */
export function gpusOf(extraSpecs: Readonly<Record<string, string>>): { readonly model: string; readonly count: number }[] {
  const told = [
    ...(extraSpecs['pci_passthrough:alias'] ?? '').split(','),
    ...(extraSpecs['resources:VGPU'] === undefined ? [] : [`VGPU:${extraSpecs['resources:VGPU']}`]),
  ]
  const counts = new Map<string, number>()
  for (const one of told) {
    const [, model, count] = /^\s*([^:]+?)\s*:\s*(\d{1,4})\s*$/.exec(one) ?? []
    if (model !== undefined && Number(count) > 0) counts.set(model, (counts.get(model) ?? 0) + Number(count))
  }
  return [...counts].map(([model, count]) => ({ model, count }))
}

export const computeFlavors = {
  list: defineCall({
    id: 'compute.flavor.list',
    method: 'GET',
    path: '/api/compute/v1/clouds/{cloud_id}/flavors',
    summary: 'Sizes of a cloud that the asker may use, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeFlavor),
  }),
  get: defineCall({
    id: 'compute.flavor.get',
    method: 'GET',
    path: '/api/compute/v1/clouds/{cloud_id}/flavors/{id}',
    summary: 'One size',
    access: tenants,
    params: inCloud,
    response: computeFlavor,
  }),
} as const
