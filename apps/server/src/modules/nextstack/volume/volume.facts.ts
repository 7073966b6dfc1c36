import type { Volume as EngineVolume } from '@zhisuan/engines/storage'
import type { VolumeFacts, VolumeRow } from './volume.store.ts'

/** How a volume is recognised as ours on the engine. */
export const tagsOf = (volumeId: string): Record<string, string> => ({ volume_id: volumeId })
export const isOurs = ({ tags }: Pick<EngineVolume, 'tags'>, volumeId: string): boolean => tags['volume_id'] === volumeId

/** The engine's name for a volume or a snapshot: never what a person typed. */
export const engineNameOf = (id: string): string => `zs-${id.replaceAll('-', '')}`

/** What a volume is called among an instance's devices; short, and no two of ours alike. */
export const deviceOf = (volumeId: string): string => `vol-${volumeId.replaceAll('-', '').slice(12)}`

type Known = Pick<VolumeRow, 'id' | 'bp_id' | 'vm_id' | 'path' | 'size_bytes' | 'used_bytes'>

/**
 * What the engine has of a volume. Where somebody attached it to several instances by hand, the one
 * that it is known to be in counts; what is not its organisation's is not named.
 * @param vms instances of its cloud by their names on the engine
 */
export function factsOf(row: Known, volume: EngineVolume | null | undefined, vms: ReadonlyMap<string, { id: string; bp_id: string | null }>): VolumeFacts {
  if (volume === null || volume === undefined || !isOurs(volume, row.id)) {
    return { observed: 'lost', vm_id: null, path: null, size_bytes: row.size_bytes, used_bytes: null, node: null }
  }
  const places = volume.attached.flatMap(({ instance, path }) => {
    const vm = vms.get(instance)
    return vm === undefined || vm.bp_id !== row.bp_id ? [] : [{ vm_id: vm.id, path }]
  })
  const place = places.find(({ vm_id }) => vm_id === row.vm_id) ?? places[0] ?? { vm_id: null, path: null }
  return {
    observed: volume.attached.length > 0 ? 'in_use' : 'available',
    ...place,
    size_bytes: volume.sizeBytes ?? row.size_bytes,
    used_bytes: volume.usedBytes ?? row.used_bytes,
    node: volume.location,
  }
}
