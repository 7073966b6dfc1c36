import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import type { InstanceUsage } from '@zhisuan/engines/compute'

/** A family of samples in the text format of Prometheus ("Exposition formats"). */
interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number | null }[]
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
const labelsOf = (labels: Readonly<Record<string, string>>): string => {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

/** What nobody knows is left out. */
export const exposed = (families: readonly Family[]): string =>
  families
    .map(({ name, help, type, samples }) => {
      const lines = samples.filter(({ value }) => value !== null).map(({ labels, value }) => `${name}${labelsOf(labels)} ${value}`)
      return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
    })
    .join('')

const one = (value: number | null): Family['samples'] => [{ labels: {}, value }]

/** How a node is, by what its agent says of it. */
export function nodeFamilies({ cpu_share, load, memory, disks, nics, gpus }: NodeMetrics): Family[] {
  const gauge = (name: string, help: string, samples: Family['samples']): Family => ({ name, help, type: 'gauge', samples })
  const counter = (name: string, help: string, samples: Family['samples']): Family => ({ name, help, type: 'counter', samples })
  return [
    gauge('zhisuan_node_cpu_ratio', 'Share of all processors that was busy, 0 to 1', one(cpu_share)),
    gauge('zhisuan_node_load1', 'Load average of one minute', one(load[0])),
    gauge('zhisuan_node_memory_total_bytes', 'Memory', one(memory.total_bytes)),
    gauge('zhisuan_node_memory_used_bytes', 'Memory that is used', one(memory.used_bytes)),
    gauge(
      'zhisuan_node_disk_total_bytes',
      'Size of a file system',
      disks.map(({ mount, total_bytes }) => ({ labels: { mount }, value: total_bytes })),
    ),
    gauge(
      'zhisuan_node_disk_used_bytes',
      'Used of a file system',
      disks.map(({ mount, used_bytes }) => ({ labels: { mount }, value: used_bytes })),
    ),
    counter(
      'zhisuan_node_network_received_bytes_total',
      'Received since boot',
      nics.map(({ name, received_bytes }) => ({ labels: { device: name }, value: received_bytes })),
    ),
    counter(
      'zhisuan_node_network_sent_bytes_total',
      'Sent since boot',
      nics.map(({ name, sent_bytes }) => ({ labels: { device: name }, value: sent_bytes })),
    ),
    gauge(
      'zhisuan_gpu_ratio',
      'Share of time in which the card was busy, 0 to 1',
      gpus.map(({ uuid, share }) => ({ labels: { gpu: uuid }, value: share })),
    ),
    gauge(
      'zhisuan_gpu_memory_used_bytes',
      'Memory of the card that is used',
      gpus.map(({ uuid, memory_used_bytes }) => ({ labels: { gpu: uuid }, value: memory_used_bytes })),
    ),
    gauge(
      'zhisuan_gpu_temperature_celsius',
      'Temperature of the card',
      gpus.map(({ uuid, temperature_celsius }) => ({ labels: { gpu: uuid }, value: temperature_celsius })),
    ),
    gauge(
      'zhisuan_gpu_power_watts',
      'Power that the card takes',
      gpus.map(({ uuid, power_watts }) => ({ labels: { gpu: uuid }, value: power_watts })),
    ),
    gauge(
      'zhisuan_gpu_lost',
      'Whether the card is there and does not answer',
      gpus.map(({ uuid, health }) => ({ labels: { gpu: uuid }, value: health === undefined ? null : Number(health.lost) })),
    ),
    gauge(
      'zhisuan_gpu_uncorrected_errors',
      'Memory errors since the last reset that could not be corrected',
      gpus.map(({ uuid, health }) => ({ labels: { gpu: uuid }, value: health?.uncorrected_errors ?? null })),
    ),
  ]
}

/** What somebody has left to spend. */
export const accountFamilies = (accounts: readonly { readonly labels: Readonly<Record<string, string>>; readonly balance: number }[]): Family[] => [
  {
    name: 'zhisuan_account_balance_yuan',
    help: 'Money and vouchers that are left, below 0 where it is owed',
    type: 'gauge',
    samples: accounts.map(({ labels, balance }) => ({ labels, value: balance })),
  },
]

/** One as its row says, and what it uses, where its engine tells. */
export interface ShownInstance {
  readonly labels: Readonly<Record<string, string>>
  readonly running: boolean
  readonly memoryBytes: number
  readonly usage: InstanceUsage | null
}

/** How instances are and what they use, each with whose it is: we tell it ourselves, and nobody who runs in one. */
export function instanceFamilies(instances: readonly ShownInstance[]): Family[] {
  const of = (name: string, help: string, type: Family['type'], value: (usage: InstanceUsage) => number | null): Family => ({
    name,
    help,
    type,
    samples: instances.flatMap(({ labels, usage }) => (usage === null ? [] : [{ labels, value: value(usage) }])),
  })
  const always = (name: string, help: string, value: (instance: ShownInstance) => number): Family => ({
    name,
    help,
    type: 'gauge',
    samples: instances.map((instance) => ({ labels: instance.labels, value: value(instance) })),
  })
  return [
    always('zhisuan_instance_running', 'Whether it runs, 1 or 0', ({ running }) => Number(running)),
    always('zhisuan_instance_memory_total_bytes', 'Memory that it may use', ({ memoryBytes }) => memoryBytes),
    of('zhisuan_instance_cpu_seconds_total', 'Processor time since its start', 'counter', ({ cpuSeconds }) => cpuSeconds),
    of('zhisuan_instance_memory_used_bytes', 'Memory that is used', 'gauge', ({ memoryBytes }) => memoryBytes),
    of('zhisuan_instance_disk_used_bytes', 'Used of the root disk', 'gauge', ({ diskBytes }) => diskBytes),
    of('zhisuan_instance_network_received_bytes_total', 'Received since its start', 'counter', ({ networkReceivedBytes }) => networkReceivedBytes),
    of('zhisuan_instance_network_sent_bytes_total', 'Sent since its start', 'counter', ({ networkSentBytes }) => networkSentBytes),
    of('zhisuan_instance_processes', 'Processes', 'gauge', ({ processes }) => processes),
  ]
}
