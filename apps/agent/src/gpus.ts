import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { NodeGpu, NodeMetrics } from '@zhisuan/contract/agent/node'

const run = promisify(execFile)
const mib = 2 ** 20

/** In the order in which they are parsed; `nvidia-smi --help-query-gpu`. */
const factFields = ['index', 'uuid', 'name', 'memory.total', 'driver_version'] as const
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

/** Nothing where there is no such card, no driver, or none that answers. */
async function query(fields: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('nvidia-smi', [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits'], {
      timeout: 10_000,
      killSignal: 'SIGKILL',
      maxBuffer: mib,
    })
    return stdout
  } catch (error) {
    // One card that is lost makes it fail, though it has told of the others.
    const { stdout } = error as { stdout?: unknown }
    return typeof stdout === 'string' ? stdout : ''
  }
}

export const gpuFacts = async (): Promise<NodeGpu[]> => parseGpuFacts(await query(factFields))
export const gpuMetrics = async (): Promise<NodeMetrics['gpus']> => parseGpuMetrics(await query(metricFields))
