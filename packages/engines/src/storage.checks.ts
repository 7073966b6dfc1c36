import { EngineError } from './errors.ts'
import type { Volume, VolumeName, VolumeSpec } from './storage.ts'

/**
 * What volumes, their attachments and snapshots have to be, whatever the engine. All throw
 * `invalid`, but where they say otherwise.
 */

const objectName = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/
const deviceName = /^[a-z][a-z0-9-]{0,26}$/
const tagKey = /^[a-z_]+$/

function must(held: boolean, message: string): asserts held {
  if (!held) throw new EngineError('invalid', message)
}

export function checkNewVolume(spec: VolumeName & Pick<VolumeSpec, 'tags'>): void {
  must(objectName.test(spec.volume), `no name for a volume: ${spec.volume}`)
  for (const key of Object.keys(spec.tags)) must(tagKey.test(key), `no key for a tag: ${key}`)
}

export const checkSize = (sizeBytes: number): void => must(Number.isSafeInteger(sizeBytes) && sizeBytes > 0, `no size: ${sizeBytes}`)

export const checkSnapshotName = (snapshot: string): void => must(objectName.test(snapshot), `no name for a snapshot: ${snapshot}`)

/** Of what a copy is made, and how large the copy is to be. */
export function checkCopy(source: Pick<Volume, 'content' | 'sizeBytes'>, spec: VolumeSpec): void {
  must(source.content === spec.content, `a copy of a ${source.content} volume is none of ${spec.content}`)
  must(source.sizeBytes === null || source.sizeBytes <= spec.sizeBytes, 'a copy cannot be smaller')
}

/**
 * An attachment that is not there yet. A block volume that another instance has throws `busy`; a
 * device name or path that is taken, and a volume that the instance has already, `conflict`.
 */
export function checkAttachment(
  volume: Volume,
  to: { instance: string; device: string; path: string | null },
  instance: { type: 'vm' | 'container'; devices: readonly { device: string; path: string | null }[] },
): void {
  must(deviceName.test(to.device), `no name for a device: ${to.device}`)
  if (volume.content === 'block') {
    must(instance.type === 'vm', 'containers take no block volumes')
    must(to.path === null, 'a block volume has no path')
  } else must(to.path !== null && isMountPoint(to.path), `no path to mount a volume at: ${to.path}`)
  if (volume.attached.some((one) => one.instance === to.instance)) throw new EngineError('conflict', `${to.instance} has ${volume.volume} already`)
  if (instance.devices.some((one) => one.device === to.device)) throw new EngineError('conflict', `${to.instance} has another device ${to.device}`)
  if (to.path !== null && instance.devices.some((one) => one.path === to.path))
    throw new EngineError('conflict', `${to.instance} has another device at ${to.path}`)
  if (volume.content === 'block' && volume.attached.length > 0) throw new EngineError('busy', `another instance has ${volume.volume}`)
}

/** Absolute, in its shortest form, not the root. */
const isMountPoint = (path: string): boolean => /^(\/[^/\0]+)+$/.test(path) && !path.split('/').some((part) => part === '.' || part === '..')
