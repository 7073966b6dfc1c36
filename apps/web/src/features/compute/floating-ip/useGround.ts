import { computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import { computeNetworks, computePorts } from '@zhisuan/contract/compute/network'
import { computeRouters } from '@zhisuan/contract/compute/router'
import type { Problem } from '@zhisuan/contract/problem'
import type { ApiError } from '../../../api/client.ts'
import { useCloudLines } from '../CloudTable.tsx'
import { isBroken } from '../Trouble.tsx'
import type { Ground } from './floatingIpRules.ts'
import type { NameOf } from './FloatingIpText.tsx'

/** What has to be known to say what can lead where: read anew where a dialog opens, and as far as it came. */
export function useGround(cloudId: string): {
  readonly ground: Ground
  readonly name: NameOf
  readonly loading: boolean
  readonly error: ApiError | null
  readonly failed: readonly Problem[]
  readonly again: () => void
} {
  const ports = useCloudLines(computePorts.list, cloudId)
  const routers = useCloudLines(computeRouters.list, cloudId)
  const networks = useCloudLines(computeNetworks.list, cloudId)
  const ips = useCloudLines(computeFloatingIps.list, cloudId)
  const all = [ports, routers, networks, ips]
  const names = { ...ips.data?.names, ...ports.data?.names, ...networks.data?.names }
  return {
    ground: { ports: ports.data?.items ?? [], routers: routers.data?.items ?? [], networks: networks.data?.items ?? [], ips: ips.data?.items ?? [] },
    name: (id) => (id === null ? '' : (names[id] ?? id)),
    // What can be reached is known only once all of it is there.
    loading: all.some(({ data, error }) => data?.done !== true && error === null),
    error: all.find(isBroken)?.error ?? null,
    failed: ports.data?.failed ?? [],
    again: () => {
      for (const one of all) if (one.error !== null || (one.data?.failed.length ?? 0) > 0) void one.refetch()
    },
  }
}
