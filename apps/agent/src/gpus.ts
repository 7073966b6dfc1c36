import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { GpuHealth, NodeGpu, NodeMetrics } from '@zhisuan/contract/agent/node'

const run = promisify(execFile)
const mib = 2 ** 20

/** In the order in which they are parsed; `nvidia-smi --help-query-gpu`. */
const factFields = ['index', 'uuid', 'name', 'memory.total', 'driver_version'] as const
/** By their names of old, which new drivers know too: one that a driver does not know makes it say nothing at all. */
const healthFields = ['uuid', 'pci.bus_id', 'ecc.errors.uncorrected.volatile.total', 'clocks_throttle_reasons.hw_thermal_slowdown'] as const
const metricFields = ['uuid', 'utilization.gpu', 'memory.used', 'temperature.gpu', 'power.draw'] as const

/** A card that does not answer says so in a line without its fields: it is left out. */
function rowsOf(csv: string, fields: readonly string[]): string[][] {
  return csv
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.trim()))
    .filter((cells) => cells.length === fields.length && cells.some((cell) => cell.startsWith('GPU-')))
}

/** Null for `[N/A]`, `[Not Supported]`, `ERR!`, `[Unknown Error]`, `[GPU is lost]` and the like. */
const numberOf = (cell: string | undefined): number | null => (cell !== undefined && /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : null)
const bytesOf = (cell: string | undefined): number | null => {
  const count = numberOf(cell)
  return count === null ? null : count * mib
}

export function parseGpuFacts(csv: string): NodeGpu[] {
  return rowsOf(csv, factFields).map(([index, uuid = '', model = '', memory, driver = '']) => ({
    index: numberOf(index) ?? 0,
    uuid,
    vendor: 'nvidia',
    model,
    memory_bytes: bytesOf(memory) ?? 0,
    driver,
  }))
}

export function parseGpuMetrics(csv: string): NodeMetrics['gpus'] {
  return rowsOf(csv, metricFields).map(([uuid = '', share, memory, temperature, power]) => {
    const percent = numberOf(share)
    return {
      uuid,
      share: percent === null ? null : percent / 100,
      memory_used_bytes: bytesOf(memory),
      temperature_celsius: numberOf(temperature),
      power_watts: numberOf(power),
    }
  })
}

/** `CUDA Version: 12.4` of the head that it prints above its table. */
export const parseCuda = (head: string): string | null => /CUDA Version\s*:\s*(\d{1,3}\.\d{1,3})/.exec(head)?.[1] ?? null

/** `PCI:0000:3b:00` of the kernel and `00000000:3B:00.0` of the driver's tool are one place. */
const placeOf = (bus: string): string => {
  const [domain = '', number = '', device = ''] = bus.toLowerCase().split(':')
  return `${Number.parseInt(domain, 16)}:${number}:${device.split('.')[0] ?? ''}`
}

/** Xid errors of the kernel's log, `dmesg --time-format iso`, by where the card is. */
export function parseXids(log: string): ReadonlyMap<string, GpuHealth['xids']> {
  const found = new Map<string, GpuHealth['xids']>()
  for (const line of log.split('\n')) {
    const [, at = '', bus = '', code = ''] = /^(\S+) .*NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)/.exec(line) ?? []
    const moment = Date.parse(at.replace(',', '.'))
    if (bus === '' || Number.isNaN(moment)) continue
    const place = placeOf(bus)
    found.set(place, [...(found.get(place) ?? []), { code: Number(code), at: new Date(moment).toISOString() }].slice(-16))
  }
  return found
}

/** How cards are, by uuid. @param log of the kernel, where it may be read */
export function parseGpuHealth(csv: string, log: string): ReadonlyMap<string, GpuHealth> {
  const xids = parseXids(log)
  return new Map(
    rowsOf(csv, healthFields).map(([uuid = '', bus = '', errors = '', slowed = '']) => [
      uuid,
      {
        lost: [bus, errors, slowed].some((cell) => /GPU is lost/i.test(cell)),
        uncorrected_errors: numberOf(errors),
        slowed_by_heat: /^(not )?active$/i.test(slowed) ? /^active$/i.test(slowed) : null,
        xids: [...(xids.get(placeOf(bus)) ?? [])],
      },
    ]),
  )
}

/** What a program prints; nothing where it cannot be run. One card that is lost makes it fail, though it has told of the others. */
async function printed(program: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(program, args, { timeout: 10_000, killSignal: 'SIGKILL', maxBuffer: 8 * mib })).stdout
  } catch (error) {
    const { stdout } = error as { stdout?: unknown }
    return typeof stdout === 'string' ? stdout : ''
  }
}
/** Nothing where there is no such card, no driver, or none that answers. */
const query = (fields: readonly string[]): Promise<string> => printed('nvidia-smi', [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits'])

export async function gpuFacts(): Promise<NodeGpu[]> {
  const cards = parseGpuFacts(await query(factFields))
  if (cards.length === 0) return []
  const cuda = parseCuda(await printed('nvidia-smi', []))
  return cards.map((card) => ({ ...card, cuda }))
}

export async function gpuMetrics(): Promise<NodeMetrics['gpus']> {
  const cards = parseGpuMetrics(await query(metricFields))
  if (cards.length === 0) return []
  const health = parseGpuHealth(await query(healthFields), await printed('dmesg', ['--time-format', 'iso']))
  return cards.map((card) => {
    const own = health.get(card.uuid)
    return own === undefined ? card : { ...card, health: own }
  })
}

/** What the driver says where it answers for no card; null where it answers. */
export const gpuError = async (): Promise<string | null> => {
  const said = await query(['uuid'])
  return said.includes('GPU-') ? null : said.trim().slice(0, 255) || 'nvidia-smi: no answer'
}
