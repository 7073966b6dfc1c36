import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { checkAttachment } from '../storage.checks.ts'
import type { Volume, VolumeName, Volumes } from '../storage.ts'
import { inUse } from './mounts.ts'
import { find } from './objects.ts'
import { instance, powerOf } from './parse.ts'
import type { Transport } from './transport.ts'
import { updateInstance } from './update.ts'
import { disksOf } from './volumes.parse.ts'

const isOf = (name: VolumeName, device: Readonly<Record<string, string>> | undefined): boolean =>
  device?.['type'] === 'disk' && device['pool'] === name.pool && device['source'] === name.volume

/** Volumes are attached as disk devices of instances. */
export function createAttachments(
  transport: Transport,
  get: (name: VolumeName, options: CallOptions) => Promise<Volume | null>,
): Pick<Volumes, 'attach' | 'detach' | 'attachedTo'> {
  const findInstance = async (name: string, options: CallOptions) =>
    (await find(transport, `/1.0/instances/${encodeURIComponent(name)}`, instance, 'instance', options))?.raw ?? null

  return {
    async attach(name, to, options = {}) {
      const volume = await get(name, options)
      if (volume === null) throw new EngineError('not_found', `no volume ${name.volume} in ${name.pool}`)
      await updateInstance(
        transport,
        to.instance,
        (raw) => {
          const device = raw.devices?.[to.device]
          if (isOf(name, device) && (device?.['path'] ?? null) === to.path) return null
          const devices = Object.entries(raw.expanded_devices ?? raw.devices ?? {}).map(([each, { path }]) => ({ device: each, path: path ?? null }))
          checkAttachment(volume, to, { type: raw.type === 'virtual-machine' ? 'vm' : 'container', devices })
          return {
            devices: { ...raw.devices, [to.device]: { type: 'disk', pool: name.pool, source: name.volume, ...(to.path !== null && { path: to.path }) } },
          }
        },
        options,
      )
    },

    async attachedTo(name, options = {}) {
      const raw = await findInstance(name, options)
      return raw === null ? [] : disksOf(raw)
    },

    async detach(name, from, options = {}) {
      const raw = await findInstance(from.instance, options)
      const device = raw?.devices?.[from.device]
      if (raw === null || !isOf(name, device)) return
      if (from.force !== true && powerOf(raw.status_code) === 'running' && (await inUse(transport, raw, from.device, options))) {
        throw new EngineError('busy', `a process in ${from.instance} uses ${name.volume}`)
      }
      try {
        await updateInstance(
          transport,
          from.instance,
          ({ devices }) => {
            const { [from.device]: gone, ...rest } = devices ?? {}
            return isOf(name, gone) ? { devices: rest } : null
          },
          options,
        )
      } catch (error) {
        // An instance that is gone has nothing attached.
        if (!isEngineError(error, 'not_found') || (await findInstance(from.instance, options)) !== null) throw error
      }
    },
  }
}
