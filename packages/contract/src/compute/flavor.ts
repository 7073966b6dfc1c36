import { z } from 'zod'
import { defineCall } from '../define.ts'
import { tenants } from '../roles.ts'
import { cloudId, inCloud, lineOf } from './line.ts'

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
