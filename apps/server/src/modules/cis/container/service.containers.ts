import type { Container } from '@zhisuan/contract/cis/container'
import type { ContainerSummary, Docker } from '@zhisuan/engines/docker/types'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { observe } from './container.docker.ts'
import type { StandingService } from '../../bill/arrears/standing.service.ts'
import type { ContainerService } from './container.service.ts'
import type { Pulling } from './container.pull.ts'
import { releaseShare, takeShare } from './container.share.ts'
import type { Observation, Port } from './container.store.ts'

/** A service whose containers are shown here, whose they are, and where. */
export interface ServiceOfStack {
  readonly id: string
  readonly name: string
  readonly edge_id: string
  readonly bp_id: string | null
  readonly created_by: string | null
  readonly created_by_name: string
  /** Of each of its containers, on a node that others share: what it is paid for by. */
  readonly shared_cpu: number | null
  readonly shared_memory_bytes: number | null
}
/** A container of a service, as Docker has it. */
export type SeenContainer = Omit<Observation, 'docker_id'> & { docker_id: string; name: string; image: string; ports: Port[]; created_at: Date }

export type ServiceContainers = ReturnType<typeof createServiceContainers>

/** So many containers are asked about at once. */
const atOnce = 8

/**
 * Containers that compose made: they are seen and entered like any other, but what they are made
 * from is their stack's. A row is of one container of Docker, and goes with it.
 */
export const createServiceContainers = (
  containers: Pick<ContainerService, 'ofService' | 'refuseTakenPorts'>,
  { pullWithAccount, refuseOthers }: Pulling,
  mayMake: StandingService['mayMake'],
) => ({
  pullWithAccount,
  refuseOthers,
  refuseTakenPorts: containers.refuseTakenPorts,
  takeShare: (tx: Tx, of: Parameters<typeof takeShare>[1], wanted: Parameters<typeof takeShare>[2]): Promise<void> => takeShare(tx, of, wanted, mayMake),
  releaseShare,

  list: (scope: Scope, serviceId: string): Promise<{ total: number; items: Container[] }> => containers.ofService(scope, serviceId),

  /** Those that went meanwhile are left out. */
  async see(docker: Docker, listed: readonly ContainerSummary[], signal: AbortSignal): Promise<ReadonlyMap<string, SeenContainer>> {
    const seen = new Map<string, SeenContainer>()
    for (let first = 0; first < listed.length; first += atOnce) {
      await Promise.all(
        listed.slice(first, first + atOnce).map(async ({ id, name, image, ports, createdAt }) => {
          const one = await observe(docker, id, signal)
          if (one !== null) seen.set(id, { ...one, docker_id: id, name, image, ports: portsOf(ports), created_at: createdAt })
        }),
      )
    }
    return seen
  },

  /** From now on a service has these. */
  async record(tx: Tx, service: ServiceOfStack, seen: readonly SeenContainer[]): Promise<void> {
    const ids = seen.map(({ docker_id }) => docker_id)
    await tx
      .deleteFrom('containers')
      .where('service_id', '=', service.id)
      .$if(ids.length > 0, (q) => q.where('docker_id', 'not in', ids))
      .execute()
    for (const { created_at, ports, ...one } of seen) {
      const now = { ...one, ports: JSON.stringify(ports), shared_cpu: service.shared_cpu, shared_memory_bytes: service.shared_memory_bytes }
      await tx
        .insertInto('containers')
        .values({
          id: uuidv7(),
          edge_id: service.edge_id,
          deployment_id: null,
          service_id: service.id,
          service_name: service.name,
          bp_id: service.bp_id,
          spec: null,
          error_text: null,
          created_by: service.created_by,
          created_by_name: service.created_by_name,
          created_at,
          ...now,
        })
        .onConflict((on) => on.columns(['service_id', 'docker_id']).where('service_id', 'is not', null).doUpdateSet(now))
        .execute()
    }
  },
})

const everywhere = new Set(['0.0.0.0', '::', ''])
/** Each once: Docker tells one port for each address that it listens at. */
function portsOf(ports: ContainerSummary['ports']): Port[] {
  const all = ports.flatMap(({ address, containerPort, hostPort, protocol }) =>
    hostPort === null
      ? []
      : [{ container_port: containerPort, host_port: hostPort, protocol, ...(address !== null && !everywhere.has(address) && { address }) }],
  )
  return [...new Map(all.map((port) => [`${port.address ?? ''} ${port.host_port}/${port.protocol}`, port])).values()]
}
