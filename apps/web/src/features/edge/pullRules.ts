import type { ResponseOf } from '@zhisuan/contract/define'
import type { edgeImages } from '@zhisuan/contract/ecrm/edge'

export type Pull = ResponseOf<typeof edgeImages.pull>
type Layer = Pull['layers'][number]

/** What Docker says of a layer while it pulls, and how we call it. */
const states = {
  'Pulling fs layer': 'waiting',
  Waiting: 'waiting',
  Downloading: 'downloading',
  'Verifying Checksum': 'verifying',
  'Download complete': 'downloaded',
  Extracting: 'extracting',
  'Pull complete': 'complete',
  'Already exists': 'exists',
} as const
export type LayerState = (typeof states)[keyof typeof states]

/** Null where Docker says something that we have no word for: it is shown as it is. */
export const layerState = ({ status }: Pick<Layer, 'status'>): LayerState | null =>
  Object.hasOwn(states, status) ? states[status as keyof typeof states] : null

/** How much of a layer has been done, 0 to 100; of one that is on the node already, all. */
export function layerPercent(layer: Layer): number {
  switch (layerState(layer)) {
    case 'complete':
    case 'exists':
      return 100
    case 'verifying':
    case 'downloaded':
      return 50
    case 'downloading':
      return shareOf(layer) * 50
    case 'extracting':
      return 50 + shareOf(layer) * 50
    default:
      return 0
  }
}

const shareOf = ({ current_bytes, total_bytes }: Layer): number => (total_bytes === null || total_bytes <= 0 ? 0 : Math.min(1, current_bytes / total_bytes))

/** How far a pull is, 0 to 100: each layer counts as much as it is large, where that is known of all. */
export function pullPercent({ status, layers }: Pick<Pull, 'status' | 'layers'>): number {
  if (status === 'succeeded') return 100
  if (layers.length === 0) return 0
  const coming = layers.filter((layer) => layerState(layer) !== 'exists')
  if (coming.length === 0) return 100
  const known = coming.every(({ total_bytes }) => total_bytes !== null && total_bytes > 0)
  const weightOf = ({ total_bytes }: Layer): number => (known ? (total_bytes ?? 1) : 1)
  const whole = coming.reduce((sum, layer) => sum + weightOf(layer), 0)
  return Math.floor(coming.reduce((sum, layer) => sum + layerPercent(layer) * weightOf(layer), 0) / whole)
}

/** By what an image is removed: each of its names, or its id where it has none. */
export const namesOf = ({ id, tags }: { readonly id: string; readonly tags: readonly string[] }): readonly string[] => (tags.length === 0 ? [id] : tags)

/** As `docker images` shows it. */
export const shortId = (id: string): string => id.replace(/^sha256:/, '').slice(0, 12)
