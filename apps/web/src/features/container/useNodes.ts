import { edges, type Edge } from '@zhisuan/contract/ecrm/edge'
import { useCall } from '../../api/hooks.ts'

const none: readonly Edge[] = []

/** Nodes that the person may use, by name. */
export function useNodes(refreshMs?: number): readonly Edge[] {
  const { data } = useCall(edges.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true, ...(refreshMs !== undefined && { refreshMs }) })
  return data?.items ?? none
}
