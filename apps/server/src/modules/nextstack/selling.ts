import { eips as eipCalls } from '@zhisuan/contract/nextstack/eip'
import { vms as vmCalls, type Vm } from '@zhisuan/contract/nextstack/vm'
import { volumes as volumeCalls, type Volume } from '@zhisuan/contract/nextstack/volume'
import type { Eip } from '@zhisuan/contract/nextstack/eip'
import type { Sold, SoldResource } from '../../platform/module.ts'
import type { EipService } from './eip/eip.service.ts'
import type { VmService } from './vm/vm.service.ts'
import type { VolumeService } from './volume/volume.service.ts'

/** How instances are paid in advance; the meters, as of the two below, are those of `metering.ts`. */
export const sellsVms = (vms: Pick<VmService, 'create' | 'find'>): Sold => ({
  call: vmCalls.create,
  make: async (actor, body, recorded) => {
    await vms.create(actor, vmCalls.create.body.parse(body), (tx, made) => recorded(tx, made.map(vmSold)))
  },
  find: async (on, scope, id) => mapped(await vms.find(on, scope, id), vmSold),
})

/** The same of volumes. */
export const sellsVolumes = (volumes: Pick<VolumeService, 'create' | 'find'>): Sold => ({
  call: volumeCalls.create,
  make: async (actor, body, recorded) => {
    await volumes.create(actor, volumeCalls.create.body.parse(body), (tx, made) => recorded(tx, [volumeSold(made)]))
  },
  find: async (on, scope, id) => mapped(await volumes.find(on, scope, id), volumeSold),
})

/** The same of addresses. */
export const sellsEips = (eips: Pick<EipService, 'allocate' | 'find'>): Sold => ({
  call: eipCalls.allocate,
  make: async (actor, body, recorded) => {
    await eips.allocate(actor, eipCalls.allocate.body.parse(body), (tx, made) => recorded(tx, made.map(eipSold)))
  },
  find: async (on, scope, id) => mapped(await eips.find(on, scope, id), eipSold),
})

const mapped = <T>(value: T | undefined, shape: (value: T) => SoldResource): SoldResource | undefined => (value === undefined ? undefined : shape(value))

/** A stopped one is paid like one that runs: that is what paying in advance means. */
const vmSold = ({ id, name, bp_id, status, error, cpu_cores, memory_bytes, disk_bytes, gpus }: Vm): SoldResource => ({
  id,
  name,
  bp_id,
  usage: {
    'vm.vcpu': cpu_cores,
    'vm.memory': memory_bytes,
    'vm.disk': disk_bytes,
    ...Object.fromEntries(gpus.map(({ model, count }) => [`vm.gpu/${model}`, count])),
  },
  state: status === 'creating' ? 'coming' : ['error', 'lost', 'deleting'].includes(status) ? 'broken' : 'there',
  error,
})

const volumeSold = ({ id, name, bp_id, status, error, pool, size_bytes }: Volume): SoldResource => ({
  id,
  name,
  bp_id,
  usage: { [`volume.size/${pool}`]: size_bytes },
  state: status === 'creating' ? 'coming' : ['error', 'lost', 'deleting'].includes(status) ? 'broken' : 'there',
  error,
})

const eipSold = ({ id, name, bp_id, bandwidth_mbps, limits_bandwidth }: Eip): SoldResource => ({
  id,
  name,
  bp_id,
  usage: { 'eip.address': 1, ...(bandwidth_mbps !== null && limits_bandwidth && { 'eip.bandwidth': bandwidth_mbps }) },
  state: 'there',
  error: null,
})
