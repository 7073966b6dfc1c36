import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { refuseAborted } from '../signals.ts'
import { checkNewVolume } from '../storage.checks.ts'
import type { VolumeName, Volumes } from '../storage.ts'
import { change, namesIn, running, settle } from './operations.ts'
import { parse } from './parse.ts'
import type { Transport } from './transport.ts'
import { findVolume, isMade, type createBeside } from './volumes.beside.ts'
import { onMember, touchesVolume, volumePath, volumesPath } from './volumes.parse.ts'

const backup = z.object({ name: z.string() })
/** Begins the names of backups that live only until somebody reads them. */
const prefix = 'zhisuan-export-'
/** Newer servers delete by themselves what we leave. */
const keptMs = 24 * 3_600_000
/** Silence after which a stream is taken for dead. */
const silenceMs = 600_000

export function createBackups(transport: Transport, makeBeside: ReturnType<typeof createBeside>): Pick<Volumes, 'export' | 'import'> {
  const backupsPath = (name: VolumeName): string => `${volumePath(name)}/backups`
  /** Being made or about to be read by this process. */
  const ours = new Set<string>()

  const remove = async (name: VolumeName, of: string, options: CallOptions): Promise<void> => {
    try {
      await change(transport, `${backupsPath(name)}/${of}`, { method: 'DELETE' }, options)
    } catch (error) {
      if (!isEngineError(error, 'not_found')) throw error
    }
  }
  /** Backups that killed callers left. Whoever's is taken for one by mistake makes another. */
  const sweep = async (name: VolumeName, options: CallOptions): Promise<void> => {
    const { metadata } = await transport.ask(backupsPath(name), { query: { recursion: '1' }, signal: options.signal })
    const left = parse(z.array(backup), metadata, 'backups').map((one) => one.name.split('/').at(-1) ?? '')
    if (!left.some((one) => one.startsWith(prefix))) return
    const beingMade = new Set((await running(transport, options)).flatMap((one) => namesIn(one, 'backups')))
    for (const one of left) if (one.startsWith(prefix) && !ours.has(one) && !beingMade.has(one)) await remove(name, one, options)
  }
  /** Goes on when the caller has gone: the engine cannot cancel what it began. */
  const leave = (name: VolumeName, of: string): void => {
    void settle(transport, name.volume, {}, touchesVolume)
      .then(() => remove(name, of, {}))
      .catch(() => undefined)
      .finally(() => ours.delete(of))
  }

  return {
    async export(name, options = {}) {
      for (let tries = 0; ; tries++) {
        await sweep(name, options)
        const of = `${prefix}${randomUUID()}`
        ours.add(of)
        try {
          const body = { name: of, volume_only: true, optimized_storage: false, expires_at: new Date(Date.now() + keptMs).toISOString() }
          await change(transport, backupsPath(name), { method: 'POST', body }, options)
          const { body: stream } = await transport.stream(`${backupsPath(name)}/${of}/export`, { signal: options.signal, timeoutMs: silenceMs })
          try {
            // A file that is open can be read to its end, whoever deletes it: so whatever becomes
            // of the reader, nothing is left.
            await remove(name, of, options)
          } catch (error) {
            stream.destroy()
            throw error
          }
          ours.delete(of)
          return stream
        } catch (error) {
          leave(name, of)
          const taken = isEngineError(error, 'not_found') && tries < 3 && (await findVolume(transport, name, options)) !== null
          if (!taken) throw error
        }
      }
    },

    async import(spec, content, options = {}) {
      // It may break off before it is read, and nobody else listens.
      content.on('error', () => undefined)
      try {
        refuseAborted(options.signal)
        checkNewVolume(spec)
        if (await isMade(transport, spec, options)) return
        await makeBeside(spec, (standIn) => upload(standIn, spec.host, content, options), options)
      } finally {
        content.destroy()
      }
    },
  }

  async function upload(to: VolumeName, host: string | undefined, content: Parameters<Volumes['import']>[1], options: CallOptions): Promise<void> {
    // Incus reads the same under its own name.
    const headers = { 'content-type': 'application/octet-stream', 'x-lxd-name': to.volume, 'x-incus-name': to.volume }
    try {
      await change(transport, volumesPath(to.pool), { method: 'POST', query: onMember(host), raw: { content, headers }, timeoutMs: silenceMs }, options)
    } catch (error) {
      if (isEngineError(error, 'unsupported', 'failed') && /compression|backup (file|is)|index|\bEOF\b/i.test(error.message)) {
        throw new EngineError('invalid', error.message, { cause: error })
      }
      throw error
    }
  }
}
