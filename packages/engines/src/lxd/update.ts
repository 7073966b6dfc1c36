import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { pause, refuseAborted, untilAborted } from '../signals.ts'
import { change, settle } from './operations.ts'
import { instance, parse, type LxdInstance } from './parse.ts'
import type { Transport } from './transport.ts'

/** What an instance is to have instead. */
export type Edit = Partial<Pick<LxdInstance, 'config' | 'devices' | 'description' | 'profiles'>>

/**
 * Changes an instance by what it is now, until `edit` finds nothing to change. The engine takes
 * whole objects and keeps nobody from writing over what another wrote in between: within this
 * process changes of one instance wait for each other, and what others did is looked at again.
 */
export function updateInstance(transport: Transport, name: string, edit: (raw: LxdInstance) => Edit | null, options: CallOptions = {}): Promise<void> {
  const path = `/1.0/instances/${encodeURIComponent(name)}`
  const work = async (): Promise<void> => {
    for (let tries = 0; ; tries++) {
      const { metadata, etag } = await transport.ask(path, { signal: options.signal })
      const raw = parse(instance, metadata, 'instance')
      const wanted = edit(raw)
      if (wanted === null) return
      if (tries > 5) throw new EngineError('busy', `others keep changing ${name}`)
      const { architecture, config, devices, ephemeral, profiles, description } = { ...raw, ...wanted }
      try {
        await change(transport, path, { method: 'PUT', ifMatch: etag, body: { architecture, config, devices, ephemeral, profiles, description } }, options)
      } catch (error) {
        if (options.signal?.aborted === true || tries === 5 || !isEngineError(error, 'busy')) throw error
        await settle(transport, name, options)
        await pause(50 * tries, options.signal)
      }
    }
  }
  return inTurn(transport, name, work, options.signal)
}

const queues = new WeakMap<Transport, Map<string, Promise<void>>>()

/** One after the other, of those who change one instance. */
export async function inTurn(transport: Transport, name: string, work: () => Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  refuseAborted(signal)
  const queue = queues.get(transport) ?? new Map<string, Promise<void>>()
  queues.set(transport, queue)
  const before = queue.get(name)
  const mine = (async () => {
    await before
    refuseAborted(signal)
    await work()
  })()
  const settled = mine.catch(() => undefined)
  queue.set(name, settled)
  void settled.then(() => queue.get(name) === settled && queue.delete(name))
  return untilAborted(mine, signal)
}
