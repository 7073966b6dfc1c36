import type { ContainerSpec } from '@zhisuan/contract/cis/container'
import type { ContainerSpec as DockerSpec } from '@zhisuan/engines/docker/types'

/** By these labels a container on Docker is known as one of ours, whatever it is called. */
export const containerLabel = 'zhisuan.container'
export const generationLabel = 'zhisuan.generation'

/**
 * What Docker calls it: the name as far as Docker takes it, and what makes it the only one, also
 * where one Docker serves several nodes, and beside its former generation.
 */
export function dockerName(name: string, id: string, generation: number): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const tail = id.replaceAll('-', '').slice(-12)
  return `${plain === '' ? '' : `${plain}-`}${tail}${generation > 1 ? `-${generation}` : ''}`
}

/** What of a node that several share is one organisation's: named volumes, and the network in which its containers reach one another. */
export const sharedName = (bpId: string): string => `zs-${bpId.replaceAll('-', '')}`

/** What Docker calls a named volume. @param tenant of whom it is on a node that others share; null on one of their own */
export const volumeName = (name: string, tenant: string | null): string => (tenant === null ? name : `${sharedName(tenant)}-${name}`)

/**
 * A specification in the words of the engine. Configs are no mounts of Docker: they are put in as files.
 * @param cards those that it gets, by uuid; null: any, as many as it says
 * @param tenant of whom it is on a node that others share; null on one of their own
 */
export const bodyOf = (
  spec: ContainerSpec,
  { id, generation, tenant = null, cards = null }: { id: string; generation: number; tenant?: string | null; cards?: readonly string[] | null },
): DockerSpec => ({
  image: spec.image,
  command: spec.command,
  entrypoint: spec.entrypoint,
  env: Object.fromEntries(spec.env.map(({ name, value }) => [name, value])),
  workingDir: spec.working_dir,
  labels: { [containerLabel]: id, [generationLabel]: String(generation) },
  ports: spec.ports.map(({ container_port, host_port, protocol }) => ({ containerPort: container_port, hostPort: host_port, protocol })),
  mounts: spec.mounts.flatMap((mount) => {
    if (mount.type === 'config') return []
    return [
      { type: mount.type, source: mount.type === 'volume' ? volumeName(mount.name, tenant) : mount.host_path, path: mount.path, readOnly: mount.read_only },
    ]
  }),
  ...(tenant !== null && { network: sharedName(tenant) }),
  restart: spec.restart,
  cpuLimit: spec.cpu_limit,
  memoryLimitBytes: spec.memory_limit_bytes,
  gpus: cards ?? spec.gpus,
  health:
    spec.health === null
      ? null
      : {
          command: spec.health.command,
          intervalMs: spec.health.interval_seconds * 1_000,
          timeoutMs: spec.health.timeout_seconds * 1_000,
          retries: spec.health.retries,
        },
})

/** Configs that it has as files. */
export const configsOf = (spec: ContainerSpec): { path: string; config_id: string }[] =>
  spec.mounts.flatMap((mount) => (mount.type === 'config' ? [{ path: mount.path, config_id: mount.config_id }] : []))
