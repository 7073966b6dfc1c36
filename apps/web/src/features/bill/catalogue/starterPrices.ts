import type { Meter } from '@zhisuan/contract/bill/meter'

/** Keys of `starter.names` in the messages, a meter, and yuan for an hour, a month and a year of one unit. */
export interface StarterRow {
  readonly category: 'compute' | 'storage' | 'network'
  readonly product: 'vm' | 'gpu' | 'volume' | 'snapshot' | 'image' | 'eip' | 'file' | 'container'
  readonly sku: 'vcpu' | 'memory' | 'disk' | 'card' | 'size' | 'backup' | 'address' | 'bandwidth' | 'registry' | 'snapshot'
  readonly meter: Meter
  readonly hour: string
  readonly month: string
  readonly year: string
}

/** Examples to begin with, nothing more: an administrator looks at each of them before it holds. A year is ten months. */
export const starterPrices: readonly StarterRow[] = [
  { category: 'compute', product: 'vm', sku: 'vcpu', meter: 'vm.vcpu', hour: '0.09', month: '45', year: '450' },
  { category: 'compute', product: 'vm', sku: 'memory', meter: 'vm.memory', hour: '0.04', month: '20', year: '200' },
  { category: 'compute', product: 'vm', sku: 'disk', meter: 'vm.disk', hour: '0.0007', month: '0.35', year: '3.5' },
  { category: 'compute', product: 'gpu', sku: 'card', meter: 'vm.gpu', hour: '8', month: '4000', year: '40000' },
  { category: 'compute', product: 'container', sku: 'vcpu', meter: 'container.vcpu', hour: '0.09', month: '45', year: '450' },
  { category: 'compute', product: 'container', sku: 'memory', meter: 'container.memory', hour: '0.04', month: '20', year: '200' },
  { category: 'storage', product: 'volume', sku: 'size', meter: 'volume.size', hour: '0.0007', month: '0.35', year: '3.5' },
  { category: 'storage', product: 'snapshot', sku: 'snapshot', meter: 'snapshot.size', hour: '0.0002', month: '0.12', year: '1.2' },
  { category: 'storage', product: 'snapshot', sku: 'backup', meter: 'backup.size', hour: '0.0003', month: '0.16', year: '1.6' },
  { category: 'storage', product: 'image', sku: 'size', meter: 'image.size', hour: '0.0002', month: '0.12', year: '1.2' },
  { category: 'storage', product: 'image', sku: 'registry', meter: 'registry.size', hour: '0.0002', month: '0.12', year: '1.2' },
  { category: 'storage', product: 'file', sku: 'size', meter: 'file.size', hour: '0.0005', month: '0.3', year: '3' },
  { category: 'network', product: 'eip', sku: 'address', meter: 'eip.address', hour: '0.02', month: '12', year: '120' },
  { category: 'network', product: 'eip', sku: 'bandwidth', meter: 'eip.bandwidth', hour: '0.06', month: '25', year: '250' },
]
