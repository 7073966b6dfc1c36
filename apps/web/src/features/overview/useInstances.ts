import { useQueries } from '@tanstack/react-query'
import { vms, vmStatuses, type Vm, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import { request, type ApiError } from '../../api/client.ts'
import { useCall } from '../../api/hooks.ts'
import { countByStatus, type StatusCounts } from './counts.ts'

/** Up to so many are counted from one list; of more, the server is asked for each status how many. */
const countedAtOnce = 100
const refreshMs = 10_000
const countsRefreshMs = 30_000

export interface Instances {
  readonly total: number
  /** Newest first, at most {@link countedAtOnce}. */
  readonly newest: readonly Vm[]
  /** Null until all are counted. */
  readonly counts: StatusCounts | null
}

/** All instances that the person may see, on all clouds. */
export function useInstances(): { readonly data: Instances | undefined; readonly error: ApiError | null; readonly refetch: () => void } {
  const list = useCall(vms.list, { query: { page_size: countedAtOnce, sort: '-created_at' } }, { refreshMs, silent: true })
  const many = list.data !== undefined && list.data.total > list.data.items.length
  const perStatus = useQueries({
    queries: vmStatuses.map((status) => ({
      queryKey: [vms.list.id, { query: { page_size: 1, status } }],
      queryFn: async ({ signal }: { signal: AbortSignal }) => request(vms.list, { query: { page_size: 1, status }, signal }),
      enabled: many,
      refetchInterval: countsRefreshMs,
      meta: { silent: true },
    })),
  })
  const { data } = list
  if (data === undefined) return { data: undefined, error: list.error, refetch: () => void list.refetch() }

  let counts: StatusCounts | null = null
  if (!many) counts = countByStatus(data.items)
  else if (perStatus.every((query) => query.data !== undefined)) {
    counts = Object.fromEntries(vmStatuses.map((status, index): [VmStatus, number] => [status, perStatus[index]?.data?.total ?? 0]))
  }
  return { data: { total: data.total, newest: data.items, counts }, error: list.error, refetch: () => void list.refetch() }
}
