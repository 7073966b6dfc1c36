import type { containers, Deployment } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'

type DeployBody = BodyInput<typeof containers.deploy>

/** Where something is to go, as a form has it. */
export interface PlacementValues {
  by: 'nodes' | 'labels'
  edge_ids: string[]
  /** Each `key=value`. */
  labels: string[]
  /** Keys of taints. */
  tolerations: string[]
  count: number | null
}

/** By names or by labels, whichever is chosen; how many only where labels say which. */
export function placementOf({ by, edge_ids, labels, tolerations, count }: PlacementValues): DeployBody['placement'] {
  const tolerated = tolerations.map((key) => ({ key }))
  if (by === 'nodes') return { edge_ids, tolerations: tolerated }
  return { labels: labels.map(labelOf), tolerations: tolerated, count }
}

/** `key=value`, or a key whose value is empty. */
export function labelOf(text: string): { key: string; value: string } {
  const at = text.indexOf('=')
  return at === -1 ? { key: text.trim(), value: '' } : { key: text.slice(0, at).trim(), value: text.slice(at + 1).trim() }
}
export const labelText = ({ key, value }: { readonly key: string; readonly value: string }): string => (value === '' ? key : `${key}=${value}`)

/** Which nodes a deployment was given, in few words. */
export const placedBy = ({ edge_ids, labels }: Deployment['placement']): { by: 'nodes'; count: number } | { by: 'labels'; labels: string } =>
  labels.length > 0 ? { by: 'labels', labels: labels.map(labelText).join('、') } : { by: 'nodes', count: edge_ids.length }
