import type { CallOptions, InstanceSpec } from '../compute.ts'
import { EngineError } from '../errors.ts'
import type { CreateBody } from './instances.ts'
import { find } from './objects.ts'
import { bytesOf, instance } from './parse.ts'
import { findSnapshot } from './snapshots.ts'
import type { Transport } from './transport.ts'
import { updateInstance } from './update.ts'

/**
 * The body of a creation, turned into one that copies. The engine lets a copy inherit whatever the
 * request does not name: what the source has and the copy is not to have is named empty. The
 * engine gives the copy hardware addresses and an instance id of its own.
 */
export async function asCopy(
  transport: Transport,
  body: CreateBody,
  spec: InstanceSpec,
  of: NonNullable<InstanceSpec['copyOf']>,
  options: CallOptions,
): Promise<CreateBody> {
  const path = `/1.0/instances/${encodeURIComponent(of.instance)}`
  const whole = (await find(transport, path, instance, 'instance', options))?.raw
  const source = of.snapshot === null ? whole : await findSnapshot(transport, of.instance, of.snapshot, options)
  if (whole === undefined) throw new EngineError('not_found', `no instance ${of.instance}`)
  if (source === undefined || source === null) throw new EngineError('not_found', `no snapshot ${of.snapshot} of ${of.instance}`)
  if ((whole.type === 'virtual-machine') !== (spec.type === 'vm')) throw new EngineError('invalid', `a copy of a ${whole.type} is no ${spec.type}`)
  const root = Object.values(source.expanded_devices ?? source.devices ?? {}).find(({ path: at }) => at === '/')
  if ((bytesOf(root?.['size']) ?? 0) > spec.diskBytes) throw new EngineError('invalid', 'the disk of a copy cannot be smaller')
  const inherited = Object.keys(source.config ?? {}).filter((key) => !/^(volatile|image)\./.test(key))
  return {
    ...body,
    // Between two members of a cluster, it is not taken from the source.
    ...(whole.architecture !== undefined && whole.architecture !== null && { architecture: whole.architecture }),
    source: {
      type: 'copy',
      source: of.snapshot === null ? of.instance : `${of.instance}/${of.snapshot}`,
      instance_only: true,
      ...(of.snapshot === null && { allow_inconsistent: true }),
    },
    config: { ...Object.fromEntries(inherited.map((key) => [key, ''])), ...body.config },
    devices: { ...Object.fromEntries(Object.keys(source.devices ?? {}).map((device) => [device, { type: 'none' }])), ...body.devices },
  }
}

/** Takes away what was named empty; what bears it, and is not yet rid of it, is whole already. */
export const tidyCopy = (transport: Transport, name: string, options: CallOptions): Promise<void> =>
  updateInstance(
    transport,
    name,
    (raw) => {
      const devices = Object.entries(raw.devices ?? {}).filter(([, { type }]) => type !== 'none')
      const config = Object.entries(raw.config ?? {}).filter(([, value]) => value !== '')
      const tidy = devices.length === Object.keys(raw.devices ?? {}).length && config.length === Object.keys(raw.config ?? {}).length
      return tidy ? null : { config: Object.fromEntries(config), devices: Object.fromEntries(devices) }
    },
    options,
  )
