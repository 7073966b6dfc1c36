import type { containerStats } from '@zhisuan/contract/cis/container'
import type { ContainerDetail, ContainerState, Docker } from '@zhisuan/engines/docker/types'
import { isEngineError } from '@zhisuan/engines/errors'
import type { z } from 'zod'
import { containerLabel, generationLabel } from './container.body.ts'
import type { Holder } from './container.ports.ts'
import type { Observation } from './container.store.ts'

/** One of ours, as Docker has it. */
export interface Made {
  readonly docker_id: string
  readonly id: string
  readonly generation: number
  readonly name: string
  readonly state: ContainerState
}

/** Those of ours that Docker has, by our ids: of one that is being made anew, both. */
export async function madeOn(docker: Docker, id: string | null, signal?: AbortSignal): Promise<Made[]> {
  const all = await docker.containers.list({ all: true, labels: [id === null ? containerLabel : `${containerLabel}=${id}`], signal })
  return all.map((one) => ({
    docker_id: one.id,
    id: one.labels[containerLabel] ?? '',
    generation: Number(one.labels[generationLabel]) || 1,
    name: one.name,
    state: one.state,
  }))
}

/** Ports that Docker has published or is to publish, and by whom; `id` is ours, null of what is not of the platform, `project` that of compose. */
export async function publishedPorts(docker: Docker, signal: AbortSignal): Promise<(Holder & { id: string | null; project: string | null })[]> {
  const all = await docker.containers.list({ all: false, signal })
  return all.map(({ name, labels, ports }) => ({
    id: labels[containerLabel] ?? null,
    project: labels['com.docker.compose.project'] ?? null,
    name,
    ports: ports.flatMap(({ address, hostPort, protocol }) => (hostPort === null ? [] : [{ host_port: hostPort, protocol, address: address ?? '' }])),
  }))
}

const statuses = {
  created: 'exited',
  running: 'running',
  paused: 'paused',
  restarting: 'restarting',
  removing: 'exited',
  exited: 'exited',
  dead: 'dead',
} as const satisfies Record<ContainerState, Observation['status']>

const observationOf = (seen: ContainerDetail): Observation => ({
  status: statuses[seen.state],
  docker_id: seen.id,
  health: seen.health,
  // What ended before does not count while it runs again.
  exit_code: seen.state === 'exited' || seen.state === 'dead' || seen.state === 'restarting' ? seen.exitCode : null,
  out_of_memory: seen.outOfMemory,
  restart_count: seen.restartCount,
  started_at: seen.startedAt,
})

/** A name that nobody chose: Docker's own, of a volume that an image asks for. */
const anonymous = /^[0-9a-f]{64}$/

/** What a container writes that outlives it although nobody named a volume for it, and where it has it. */
export async function anonymousVolumes(docker: Docker, dockerId: string, signal?: AbortSignal): Promise<{ name: string; path: string }[]> {
  const { mounts } = await docker.containers.inspect(dockerId, { signal })
  return mounts.flatMap(({ type, name, path }) => (type === 'volume' && name !== null && anonymous.test(name) ? [{ name, path }] : []))
}

/** Null where Docker has it no longer. */
export async function observe(docker: Docker, dockerId: string, signal?: AbortSignal): Promise<Observation | null> {
  try {
    return observationOf(await docker.containers.inspect(dockerId, { signal }))
  } catch (error) {
    if (isEngineError(error, 'not_found')) return null
    throw error
  }
}

export async function statsOf(docker: Docker, dockerId: string): Promise<z.output<typeof containerStats>> {
  const seen = await docker.containers.stats(dockerId)
  return {
    at: seen.at.toISOString(),
    cpu: seen.cpu ?? 0,
    memory_bytes: seen.memoryBytes,
    memory_limit_bytes: seen.memoryLimitBytes,
    received_bytes: seen.receivedBytes,
    sent_bytes: seen.sentBytes,
    read_bytes: seen.readBytes,
    written_bytes: seen.writtenBytes,
    pids: seen.pids,
  }
}
