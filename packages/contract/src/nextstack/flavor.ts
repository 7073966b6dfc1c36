import { z } from 'zod'
import { byId, defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine } from '../validation.ts'
import { reference, sizeBetween, sizeBytes } from '../resource.ts'
import { vmStatuses } from './vm.ts'

/** Of what a size asks for more than any host has. */
export const flavorBeyond = ['cpu_cores', 'memory_bytes', 'gpus'] as const
export type FlavorBeyond = (typeof flavorBeyond)[number]

/** A size that instances come in. */
export const flavor = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  cpu_cores: z.int(),
  memory_bytes: z.int(),
  /** Smallest root disk. */
  disk_bytes: z.int(),
  /** Whole GPUs that are passed through; null for none. */
  gpu: z.object({ model: z.string(), count: z.int() }).nullable(),
  /** Everybody may choose it; else the organisations named. */
  public: z.boolean(),
  /** Emptied for tenants. */
  organisations: z.array(reference),
  /** Instances made with it. Zero for tenants. */
  vm_count: z.int(),
  /** What of it no host has of the cloud, or that of the instance, that a list was asked for; null where one has it all, or nobody asked. */
  beyond: z.enum(flavorBeyond).nullable(),
  created_at: moment,
})
export type Flavor = z.output<typeof flavor>

/** An instance that has a size, as far as its administrator has to tell it from others. */
export const flavorVm = z.object({
  ...reference.shape,
  status: z.enum(vmStatuses),
  cloud_id: z.uuid(),
  cloud_name: z.string(),
  bp_name: z.string().nullable(),
  created_at: moment,
})
export type FlavorVm = z.output<typeof flavorVm>

const body = z
  .object({
    name,
    description: description.default(''),
    cpu_cores: z.int().min(1, fieldTexts.flavorCores).max(512, fieldTexts.flavorCores),
    memory_bytes: sizeBetween(64 * 2 ** 20, undefined, fieldTexts.flavorMemory),
    disk_bytes: sizeBytes,
    gpu: z
      .object({
        /** As the hosts name it, see `nextstack.host.gpuModels`. */
        model: z.string().trim().min(1).max(128).regex(plainLine, fieldTexts.controlCharacters),
        count: z.int().min(1, fieldTexts.flavorGpus).max(16, fieldTexts.flavorGpus),
      })
      .nullable()
      .default(null),
    public: z.boolean().default(true),
    /** Of meaning where it is not public. */
    organisation_ids: z.array(z.uuid()).max(1000).default([]),
  })
  .refine((value) => value.public || value.organisation_ids.length > 0, { path: ['organisation_ids'], message: fieldTexts.organisationsRequired })

const base = '/api/nextstack/v1/flavors'

export const flavors = {
  list: defineCall({
    id: 'nextstack.flavor.list',
    method: 'GET',
    path: base,
    summary: 'Sizes that instances come in, as far as the user may choose them',
    access: tenants,
    query: listQuery(['name', 'cpu_cores', 'memory_bytes', 'created_at'], {
      keyword,
      public: flag.optional(),
      gpu: flag.optional(),
      /** Says of each size whether it is beyond every host of a cloud, or beyond the host that an instance is on. */
      cloud_id: z.uuid().optional(),
      vm_id: z.uuid().optional(),
    }),
    response: listOf(flavor),
  }),
  get: defineCall({ id: 'nextstack.flavor.get', method: 'GET', path: `${base}/{id}`, summary: 'One size', access: tenants, params: byId, response: flavor }),
  create: defineCall({
    id: 'nextstack.flavor.create',
    method: 'POST',
    path: base,
    summary: 'Make a size',
    access: admins,
    status: 201,
    body,
    response: flavor,
  }),
  update: defineCall({
    id: 'nextstack.flavor.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change a size; instances that have it keep what they were made with',
    access: admins,
    params: byId,
    body,
    response: flavor,
  }),
  delete: defineCall({
    id: 'nextstack.flavor.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a size that no instance has',
    access: admins,
    params: byId,
    response: empty,
  }),
  vms: defineCall({
    id: 'nextstack.flavor.vms',
    method: 'GET',
    path: `${base}/{id}/vms`,
    summary: 'Instances that have the size, of all organisations and clouds',
    access: admins,
    params: byId,
    query: listQuery(['created_at'], {}),
    response: listOf(flavorVm),
  }),
} as const
