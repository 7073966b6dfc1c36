import { posix } from 'node:path'
import { vmCan, type vms } from '@zhisuan/contract/nextstack/vm'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { DirectoryEntry } from '@zhisuan/contract/directory'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { platformScope, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { directoryOf, listed, lookingAt } from '../../../platform/directoryListing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import type { Machine, MachineItem, MachinePlace, Machines } from '../../files/machine/machine.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as store from './vm.store.ts'

const lookMs = 15_000
const placeOf = { file: 'file', directory: 'folder', link: 'other', other: 'other' } as const satisfies Record<DirectoryEntry['kind'], MachinePlace['kind']>

export type VmFiles = ReturnType<typeof createVmFiles>

/** Files of running instances: programs of the guest tell what is there and call it otherwise, the engine carries the bytes. A path never gets into a shell. */
export function createVmFiles({ db, clouds }: { db: Db; clouds: Pick<CloudService, 'forReading'> }): {
  list(actor: Actor, id: string, path: string): Promise<ResponseOf<(typeof vms)['files']>>
  machines: Machines
} {
  const reached = async (scope: Scope, id: string): Promise<Machine & { entries(path: string, signal?: AbortSignal): Promise<DirectoryEntry[]> }> => {
    const vm = found(await store.getVm(db, scope, id))
    refuseUnless(vmCan.terminal, vm)
    return machineOf(vm.name, await clouds.forReading(vm.cloud_id), vm.engine_name)
  }
  return {
    async list(actor, id, path) {
      const machine = await reached(scopeOf(actor), id)
      const place = await machine.stat(path)
      if (place?.kind !== 'folder') throw new Refusal('machineFileMissing', { field: 'path', values: { path } })
      return { items: await machine.entries(place.path) }
    },
    machines: {
      reach: reached,
      async work(id, _signal, act) {
        try {
          return await act(await reached(platformScope, id))
        } catch (error) {
          // An engine that is away, or did not answer, is tried again.
          throw isEngineError(error) && !isEngineError(error, 'unreachable', 'unanswered', 'busy', 'cancelled') ? toRefusal(error) : error
        }
      },
    },
  }
}

/** One instance, as what files go to and come from. */
export function machineOf(name: string, { instances }: { instances: Pick<ComputeEngine['instances'], 'exec' | 'readFile' | 'writeFile'> }, instance: string) {
  const run = (command: readonly [string, ...string[]], signal: AbortSignal = AbortSignal.timeout(lookMs)) =>
    instances.exec(instance, { command, env: { LC_ALL: 'C' } }, { signal })
  const done = async (command: readonly [string, ...string[]], signal: AbortSignal): Promise<void> => {
    const { exitCode, stderr } = await run(command, signal)
    if (exitCode !== 0) throw new Refusal('machineCopyRefused', { values: { said: stderr.toString('utf8').trim().slice(0, 200) } })
  }
  const entries = async (path: string, signal?: AbortSignal): Promise<DirectoryEntry[]> => {
    const items = await directoryOf(path, (command) => run(command, signal))
    if (items === null) throw new Refusal('vmFilesUnreadable', { field: 'path' })
    return items
  }
  const stat = async (path: string, signal?: AbortSignal): Promise<MachinePlace | null> => {
    const at = posix.normalize(path)
    const { exitCode, stdout } = await run(lookingAt(at), signal)
    const [entry] = (exitCode === 0 ? listed(stdout.toString('utf8')) : null) ?? []
    return entry === undefined ? null : { path: at, kind: placeOf[entry.kind], size_bytes: entry.size_bytes }
  }
  return {
    name,
    stat,
    entries,
    async *read(path: string, signal: AbortSignal): AsyncGenerator<MachineItem> {
      const root = await stat(path, signal)
      // What the engine says of its length, not what was listed before: files go on being written while they are read.
      const file = async (at: string, below: string): Promise<MachineItem> => {
        const { content, sizeBytes } = await instances.readFile(instance, at, { signal })
        return { kind: 'file', path: below, size_bytes: sizeBytes, content }
      }
      /** What was there when it was listed, and is not any more. */
      const there = async <T>(what: Promise<T>, at: string): Promise<T | null> => {
        try {
          return await what
        } catch (error) {
          if ((isEngineError(error, 'not_found') || error instanceof Refusal) && (await stat(at, signal)) === null) return null
          throw error
        }
      }
      if (root?.kind === 'file') yield await file(path, '')
      if (root?.kind !== 'folder') return
      const folders = ['']
      for (let below = folders.shift(); below !== undefined; below = folders.shift()) {
        const inFolder = below === '' ? await entries(path, signal) : await there(entries(posix.join(path, below), signal), posix.join(path, below))
        yield { kind: inFolder === null ? 'other' : 'folder', path: below }
        for (const entry of inFolder ?? []) {
          const inside = posix.join(below, entry.name)
          if (entry.kind === 'directory') folders.push(inside)
          else if (entry.kind === 'file')
            yield (await there(file(posix.join(path, inside), inside), posix.join(path, inside))) ?? { kind: 'other', path: inside }
          else yield { kind: 'other', path: inside }
        }
      }
    },
    async write({ directory, name: called, part, left }, items, signal) {
      const whole = posix.join(directory, part)
      try {
        await done(['rm', '-rf', '--', ...left.map((one) => posix.join(directory, one))], signal)
        for (const { path, file } of items) {
          const at = posix.join(whole, path)
          if (file === null) await done(['mkdir', '-p', '--', at], signal)
          else await instances.writeFile(instance, { path: at, content: await file.open(), mode: 0o644 }, { signal })
        }
        await done(['mv', '-f', '--', whole, posix.join(directory, called)], signal)
      } catch (error) {
        await run(['rm', '-rf', '--', whole]).catch(() => undefined)
        throw error
      }
    },
  } satisfies Machine & { entries: typeof entries }
}
