import { edges, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useCall } from '../../api/hooks.ts'

const none: readonly Edge[] = []

/**
 * Nodes that the person may use, by name.
 * @param shared also those that the platform shares with them
 */
export function useNodes(refreshMs?: number, shared = false): readonly Edge[] {
  const { data } = useCall(
    edges.list,
    { query: { page_size: 1000, sort: 'name', ...(shared && { usable: 'true' as const }) } },
    { silent: true, ...(refreshMs !== undefined && { refreshMs }) },
  )
  return data?.items ?? none
}
