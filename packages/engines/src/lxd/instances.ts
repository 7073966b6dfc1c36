import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { CallOptions, Instance, Instances, InstanceSpec } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { change, settle } from './operations.ts'
import { instance, parse, powerOf, shapeInstance, shapeUsage, tagPrefix, type LxdInstance } from './parse.ts'
import { runCommand, openTerminal } from './exec.ts'
import type { Transport } from './transport.ts'

const path = (name: string): string => `/1.0/instances/${encodeURIComponent(name)}`

/** The body of `POST /1.0/instances`. Pure, so that VM requests can be tested where no VM can run. */
export function createBody(spec: InstanceSpec, has: (extension: string) => boolean, storagePool: string): Record<string, unknown> {
  const userDataKey = has('cloud_init') ? 'cloud-init.user-data' : 'user.user-data'
  return {
    name: spec.name,
    type: spec.type === 'vm' ? 'virtual-machine' : 'container',
    description: spec.description ?? '',
    source: { type: 'image', fingerprint: spec.imageFingerprint },
    profiles: [],
    config: {
      'limits.cpu': String(spec.cpuCores),
      'limits.memory': String(spec.memoryBytes),
      ...(spec.type === 'container' && { 'security.nesting': 'false' }),
      ...(spec.userData !== undefined && { [userDataKey]: spec.userData }),
      ...Object.fromEntries(Object.entries(spec.tags).map(([key, value]) => [`${tagPrefix}${key}`, value])),
    },
    devices: {
      root: { type: 'disk', path: '/', pool: storagePool, size: String(spec.diskBytes) },
      eth0: { type: 'nic', name: 'eth0', network: spec.network },
    },
  }
}

export function createInstances(
  transport: Transport,
  server: { has(extension: string): Promise<(extension: string) => boolean>; rootPool(options: CallOptions): Promise<string> },
): Instances {
  const find = async (name: string, options: CallOptions = {}): Promise<LxdInstance | null> => {
    try {
      const { metadata } = await transport.ask(path(name), { query: { recursion: '1' }, signal: options.signal })
      return parse(instance, metadata, 'instance')
    } catch (error) {
      if (isEngineError(error, 'not_found')) return null
      throw error
    }
  }
  const found = async (name: string, options: CallOptions): Promise<LxdInstance> => {
    const raw = await find(name, options)
    if (raw === null) throw new EngineError('not_found', `no instance ${name}`)
    return raw
  }

  /**
   * Changes the power state. When the engine refuses, what was running on the instance is waited
   * for, and if the state then is the wanted one, somebody else (or we, before we were killed) did it.
   */
  const setState = async (
    name: string,
    wanted: 'running' | 'stopped',
    body: { action: string; force?: boolean; timeout?: number },
    options: CallOptions,
  ): Promise<void> => {
    for (let tries = 0; ; tries++) {
      try {
        await change(transport, `${path(name)}/state`, { method: 'PUT', body }, options)
        return
      } catch (error) {
        if (options.signal?.aborted === true || !isEngineError(error, 'busy', 'failed', 'invalid', 'conflict')) throw error
        await settle(transport, name, options)
        const raw = await found(name, options)
        if (powerOf(raw.status_code) === wanted) return
        // A failure while nothing else ran is the engine's answer; a busy instance is asked once more.
        if (tries >= 3 || !isBusy(error)) throw error
        await sleep(100, undefined, { signal: options.signal })
      }
    }
  }

  const sameTags = (raw: LxdInstance, tags: Readonly<Record<string, string>>): boolean => {
    const has = shapeInstance(raw).tags
    return Object.entries(tags).every(([key, value]) => has[key] === value) && Object.keys(has).length === Object.keys(tags).length
  }

  const create: Instances['create'] = async (spec, options = {}) => {
    const body = createBody(spec, await server.has('cloud_init'), await server.rootPool(options))
    for (let tries = 0; ; tries++) {
      try {
        await change(transport, '/1.0/instances', { method: 'POST', body }, options)
        return
      } catch (error) {
        if (options.signal?.aborted === true || !isEngineError(error, 'conflict', 'busy', 'failed', 'invalid')) throw error
        if (!/already|exists|in use|busy|creat/i.test(error.message)) throw error
        // Ours from before we were killed, or another's of the same name.
        await settle(transport, spec.name, options)
        const raw = await find(spec.name, options)
        if (raw !== null && !sameTags(raw, spec.tags)) throw new EngineError('conflict', `${spec.name} exists and is not ours`, { cause: error })
        if (raw !== null && powerOf(raw.status_code) !== 'error') return
        if (tries >= 20) throw error
        // Its former creation is being undone by the engine.
        await sleep(100, undefined, { signal: options.signal })
      }
    }
  }

  const remove: Instances['delete'] = async (name, options = {}) => {
    for (let tries = 0; ; tries++) {
      const raw = await find(name, options)
      if (raw === null) return
      try {
        if (powerOf(raw.status_code) !== 'stopped') await setState(name, 'stopped', { action: 'stop', force: true, timeout: 30 }, options)
        await change(transport, path(name), { method: 'DELETE' }, options)
        return
      } catch (error) {
        if (isEngineError(error, 'not_found')) return
        if (options.signal?.aborted === true || tries >= 4 || !isEngineError(error, 'busy', 'failed', 'invalid', 'conflict')) throw error
        await settle(transport, name, options)
        await sleep(100 * (tries + 1), undefined, { signal: options.signal })
      }
    }
  }

  const stop: Instances['stop'] = (name, options = {}) =>
    setState(name, 'stopped', { action: 'stop', force: options.force ?? false, timeout: options.force === true ? -1 : (options.timeoutSeconds ?? 30) }, options)

  return {
    async list(options = {}) {
      const { metadata } = await transport.ask('/1.0/instances', { query: { recursion: '2' }, signal: options.signal })
      return parse(z.array(instance), metadata, 'instances').map(shapeInstance)
    },
    async get(name, options = {}): Promise<Instance | null> {
      const raw = await find(name, options)
      return raw === null ? null : shapeInstance(raw)
    },
    create,
    start: (name, options = {}) => setState(name, 'running', { action: 'start', timeout: 30 }, options),
    stop,
    async restart(name, options = {}) {
      await found(name, options)
      await stop(name, options)
      await setState(name, 'running', { action: 'start', timeout: 30 }, options)
    },

    async resize(name, size, options = {}) {
      const raw = await found(name, options)
      const root = raw.devices?.['root'] ?? raw.expanded_devices?.['root'] ?? { type: 'disk', path: '/' }
      const before = shapeInstance(raw).diskBytes
      if (before !== null && size.diskBytes < before) throw new EngineError('invalid', 'a disk cannot shrink')
      // PATCH merges maps one level deep, so the device goes in whole.
      await change(
        transport,
        path(name),
        {
          method: 'PATCH',
          body: {
            config: { 'limits.cpu': String(size.cpuCores), 'limits.memory': String(size.memoryBytes) },
            devices: { root: { ...root, size: String(size.diskBytes) } },
          },
        },
        options,
      )
    },

    async rebuild(name, { imageFingerprint, userData }, options = {}) {
      const has = await server.has('instances_rebuild')
      const raw = await found(name, options)
      const userDataKey = has('cloud_init') ? 'cloud-init.user-data' : 'user.user-data'
      const config = Object.fromEntries(
        Object.entries(raw.config ?? {}).filter(([key]) => !/^(volatile|image)\./.test(key) && key !== 'cloud-init.user-data' && key !== 'user.user-data'),
      )
      if (userData !== undefined) config[userDataKey] = userData
      if (has('instances_rebuild')) {
        await change(transport, `${path(name)}/rebuild`, { method: 'POST', body: { source: { type: 'image', fingerprint: imageFingerprint } } }, options)
        if (userData !== undefined) await change(transport, path(name), { method: 'PATCH', body: { config: { [userDataKey]: userData } } }, options)
        return
      }
      // LXD before 5.12 cannot rebuild. The new instance is made beside under another name, from
      // which a killed caller's next try begins again, and takes the old one's place by rename.
      const fresh = `${name.slice(0, 58)}-new`
      await remove(fresh, options)
      const mac = raw.config?.['volatile.eth0.hwaddr']
      await change(
        transport,
        '/1.0/instances',
        {
          method: 'POST',
          body: {
            name: fresh,
            type: raw.type,
            description: raw.description ?? '',
            source: { type: 'image', fingerprint: imageFingerprint },
            profiles: raw.profiles ?? [],
            // The same hardware address, so that DHCP gives the same lease.
            config: { ...config, ...(mac !== undefined && { 'volatile.eth0.hwaddr': mac }) },
            devices: raw.devices ?? {},
          },
        },
        options,
      )
      await remove(name, options)
      await change(transport, path(fresh), { method: 'POST', body: { name } }, options)
    },

    delete: remove,
    exec: (name, request, options = {}) => runCommand(transport, path(name), request, options),
    terminal: (name, request, options = {}) => openTerminal(transport, path(name), request, options),

    async writeFile(name, file, options = {}) {
      const headers = {
        'content-type': 'application/octet-stream',
        'x-lxd-type': 'file',
        'x-lxd-mode': (file.mode & 0o7777).toString(8).padStart(4, '0'),
        'x-lxd-uid': String(file.uid ?? 0),
        'x-lxd-gid': String(file.gid ?? 0),
        'x-lxd-write': 'overwrite',
        // Incus reads the same under its own name.
        'x-incus-type': 'file',
        'x-incus-mode': (file.mode & 0o7777).toString(8).padStart(4, '0'),
        'x-incus-uid': String(file.uid ?? 0),
        'x-incus-gid': String(file.gid ?? 0),
        'x-incus-write': 'overwrite',
      }
      await transport.ask(`${path(name)}/files`, {
        method: 'POST',
        query: { path: file.path },
        raw: { content: file.content, headers },
        signal: options.signal,
      })
    },

    async usage(options = {}) {
      const { metadata } = await transport.ask('/1.0/instances', { query: { recursion: '2' }, signal: options.signal })
      const takenAt = new Date()
      return parse(z.array(instance), metadata, 'instances')
        .map((raw) => shapeUsage(raw, takenAt))
        .filter((usage) => usage !== null)
    },

    async consoleLog(name, options = {}) {
      const { status, body } = await transport.raw(`${path(name)}/console`, { signal: options.signal })
      if (status === 200) return body.subarray(-1024 * 1024).toString('utf8')
      await found(name, options)
      // Nothing was printed yet, or this driver keeps no log.
      return ''
    },
  }
}

const isBusy = (error: unknown): boolean => isEngineError(error, 'busy') || (error instanceof Error && /busy|in progress/i.test(error.message))

