import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { CallOptions, EngineInfo, Instance, Instances, InstanceSpec } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { pause } from '../signals.ts'
import { asCopy, tidyCopy } from './copies.ts'
import { change, settle } from './operations.ts'
import { instance, isStandIn, nicDevice, parse, powerOf, shapeInstance, shapeUsage, standInKey, type LxdInstance } from './parse.ts'
import { runCommand, openTerminal } from './exec.ts'
import type { Nics } from './nics.ts'
import { onMember } from './server.ts'
import { createSnapshots } from './snapshots.ts'
import { sameTexts, tagged } from './tags.ts'
import type { Transport } from './transport.ts'
import { inTurn, updateInstance } from './update.ts'

const path = (name: string): string => `/1.0/instances/${encodeURIComponent(name)}`

/** Below user data: cloud-init takes from it what that does not say. */
const vendorDataKey = (has: (extension: string) => boolean): string => (has('cloud_init') ? 'cloud-init.vendor-data' : 'user.vendor-data')
const vendorData = (hostname: string): string => `#cloud-config\nhostname: ${hostname}\n`
const userDataKey = (has: (extension: string) => boolean): string => (has('cloud_init') ? 'cloud-init.user-data' : 'user.user-data')

/** Of an image, what is read here: https://documentation.ubuntu.com/lxd/latest/reference/image_format/. */
const hostnameTemplateShape = z.object({ template: z.string(), when: z.array(z.string()).catch([]) })
type HostnameTemplate = z.infer<typeof hostnameTemplateShape>
const imageMetadata = z.object({ templates: z.record(z.string(), hostnameTemplateShape).nullish() })
/** Silence after which a file is taken for dead. */
const silenceMs = 60_000
/** More than a cloud has. */
const rememberedImages = 10_000

/** What an instance is called that is made to take the place of another. */
const standInOf = (name: string): string => `${name.slice(0, 48)}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`

export type CreateBody = Record<string, unknown> & { config: Record<string, string>; devices: Record<string, Record<string, string>> }

/** The body of `POST /1.0/instances`. Pure, so that VM requests can be tested where no VM can run. */
function createBody(spec: InstanceSpec, has: (extension: string) => boolean, storagePool: string, nic: Readonly<Record<string, string>>): CreateBody {
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
      ...(spec.userData !== undefined && { [userDataKey(has)]: spec.userData }),
      ...(spec.hostname !== undefined && { [vendorDataKey(has)]: vendorData(spec.hostname) }),
      ...tagged(spec.tags),
    },
    devices: {
      root: { type: 'disk', path: '/', pool: storagePool, size: String(spec.diskBytes) },
      [nicDevice]: nic,
      ...Object.fromEntries((spec.gpus ?? []).map((pci, index) => [`gpu${index}`, { type: 'gpu', gputype: 'physical', pci }])),
    },
  }
}

export function createInstances(
  transport: Transport,
  server: {
    has(options: CallOptions): Promise<(extension: string) => boolean>
    rootPool(options: CallOptions): Promise<string>
    instanceTypes(options: CallOptions): Promise<EngineInfo['instanceTypes']>
    nics: Nics
  },
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
        await pause(100, options.signal)
      }
    }
  }

  /** The engine looks at the image first: a host that runs no such instances may say anything. */
  const refined = async (error: EngineError, spec: InstanceSpec, options: CallOptions): Promise<EngineError> => {
    const types = await server.instanceTypes(options)
    const able = types[spec.type]
    return able.available ? error : new EngineError('unsupported', able.reason, { cause: error })
  }

  const create: Instances['create'] = async (spec, options = {}) => {
    const nic = { network: spec.network, address: spec.address ?? null, guarded: spec.guarded ?? false, ingressBitsPerSecond: null, egressBitsPerSecond: null }
    const plain = createBody(spec, await server.has(options), await server.rootPool(options), await server.nics.prepare(spec.name, nic, options))
    if (spec.copyOf === undefined) {
      await make(spec, plain, options)
      return nameGuest(spec.name, spec.hostname, { by: 'create', of: spec.imageFingerprint }, options)
    }
    // One that was made before may have outlived its source.
    await settle(transport, spec.name, options)
    const former = await find(spec.name, options)
    if (former === null || powerOf(former.status_code) === 'error') await make(spec, await asCopy(transport, plain, spec, spec.copyOf, options), options)
    else mustBeOurs(former, spec)
    await tidyCopy(transport, spec.name, options)
    // Of what image the other was made is not known.
    await nameGuest(spec.name, spec.hostname, { by: 'copy', of: null }, options)
  }
  /** The template of /etc/hostname of an image, and when the engine writes it; null where it has none. Images do not change: each is asked about once. */
  const hostnameTemplates = new Map<string, HostnameTemplate | null>()
  const hostnameTemplate = async (name: string, fingerprint: string | null, options: CallOptions): Promise<HostnameTemplate | null> => {
    const known = fingerprint === null ? undefined : hostnameTemplates.get(fingerprint)
    if (known !== undefined) return known
    const { metadata } = await transport.ask(`${path(name)}/metadata`, { signal: options.signal })
    const template = imageMetadata.safeParse(metadata).data?.templates?.['/etc/hostname'] ?? null
    if (hostnameTemplates.size >= rememberedImages) hostnameTemplates.clear()
    if (fingerprint !== null) hostnameTemplates.set(fingerprint, template)
    return template
  }
  /**
   * Without cloud-init a guest is called as /etc/hostname says, where most images have the engine write its own name at the first
   * start: then that template says ours instead, which costs one question, while a file in what does not run costs two of
   * 100 ms. What has no such file, or runs as a virtual machine whose disk is out of reach before, keeps the engine's name.
   */
  const nameGuest = async (
    name: string,
    hostname: string | undefined,
    made: { by: 'create' | 'copy'; of: string | null },
    options: CallOptions,
  ): Promise<void> => {
    if (hostname === undefined) return
    const content = Buffer.from(`${hostname}\n`)
    try {
      const template = await hostnameTemplate(name, made.of, options)
      if (template !== null) {
        const raw = { content, headers: { 'content-type': 'application/octet-stream' } }
        await transport.ask(`${path(name)}/metadata/templates`, { method: 'POST', query: { path: template.template }, raw, signal: options.signal })
      }
      if (template === null || !template.when.some((when) => when === made.by || when === 'start'))
        await writeFile(name, { path: '/etc/hostname', content, mode: 0o644 }, options)
    } catch (error) {
      if (!isEngineError(error, 'not_found', 'invalid', 'unsupported', 'failed', 'bad_answer')) throw error
    }
  }
  const mustBeOurs = (raw: LxdInstance, spec: InstanceSpec, cause?: EngineError): void => {
    if (!sameTexts(shapeInstance(raw).tags, spec.tags)) throw new EngineError('conflict', `${spec.name} exists and is not ours`, { cause })
  }
  const make = async (spec: InstanceSpec, body: CreateBody, options: CallOptions): Promise<void> => {
    for (let tries = 0; ; tries++) {
      try {
        await change(transport, '/1.0/instances', { method: 'POST', query: onMember(spec.host ?? null), body }, options)
        return
      } catch (error) {
        if (options.signal?.aborted === true || !isEngineError(error, 'conflict', 'busy', 'failed', 'invalid')) throw error
        if (!isTaken(error)) throw await refined(error, spec, options)
        // Ours from before we were killed, or another's of the same name.
        await settle(transport, spec.name, options)
        const raw = await find(spec.name, options)
        if (raw !== null) mustBeOurs(raw, spec, error)
        if (raw !== null && powerOf(raw.status_code) !== 'error') return
        if (tries >= 20) throw error
        // Its former creation is being undone by the engine.
        await pause(100, options.signal)
      }
    }
  }

  const remove: Instances['delete'] = async (name, options = {}) => {
    for (let tries = 0; ; tries++) {
      let raw = await find(name, options)
      if (raw === null && tries === 0) {
        // A creation that was asked for just now may be about to make it.
        await settle(transport, name, options)
        raw = await find(name, options)
      }
      if (raw === null) return
      try {
        if (powerOf(raw.status_code) !== 'stopped') await setState(name, 'stopped', { action: 'stop', force: true, timeout: 30 }, options)
        await change(transport, path(name), { method: 'DELETE' }, options)
        return
      } catch (error) {
        // What was not found need not have been the instance: looked for again above.
        if (options.signal?.aborted === true || tries >= 4 || !isEngineError(error, 'not_found', 'busy', 'failed', 'invalid', 'conflict')) throw error
        await settle(transport, name, options)
        await pause(100 * (tries + 1), options.signal)
      }
    }
  }

  const stop: Instances['stop'] = (name, options = {}) =>
    setState(name, 'stopped', { action: 'stop', force: options.force ?? false, timeout: options.force === true ? -1 : (options.timeoutSeconds ?? 30) }, options)

  const mustBeReplaceable = (raw: LxdInstance): void => {
    if (powerOf(raw.status_code) !== 'stopped') throw new EngineError('invalid', `${raw.name} is not stopped`)
    if ((raw.snapshots ?? []).length > 0) throw new EngineError('invalid', `${raw.name} has snapshots`)
  }
  /** @param cloudInit configuration keys for what cloud-init reads; an empty value removes the key */
  type Rebuild = (name: string, imageFingerprint: string, cloudInit: Readonly<Record<string, string>>, options: CallOptions) => Promise<void>

  const rebuildInPlace: Rebuild = async (name, imageFingerprint, cloudInit, options) => {
    const raw = await found(name, options)
    mustBeReplaceable(raw)
    // A missing description would be removed.
    await change(transport, path(name), { method: 'PATCH', body: { description: raw.description ?? '', config: cloudInit } }, options)
    await change(transport, `${path(name)}/rebuild`, { method: 'POST', body: { source: { type: 'image', fingerprint: imageFingerprint } } }, options)
  }

  /**
   * LXD before 5.12 cannot rebuild. A new instance is made beside under another name, and takes the
   * old one's place by rename. Whoever was killed in between and asks again begins anew.
   */
  const rebuildBeside: Rebuild = async (name, imageFingerprint, cloudInit, options) => {
    const standIn = standInOf(name)
    const rename = () => change(transport, path(standIn), { method: 'POST', body: { name } }, options)
    await settle(transport, standIn, options)
    const former = await find(standIn, options)
    if (former !== null && former.config?.[standInKey] !== name) throw new EngineError('conflict', `${standIn} exists and is not ours`)
    let raw = await find(name, options)
    if (raw === null && former !== null) {
      // The old one was deleted, and the new one not yet renamed.
      await rename()
      raw = await find(name, options)
    } else if (former !== null) await remove(standIn, options)
    if (raw === null) throw new EngineError('not_found', `no instance ${name}`)
    mustBeReplaceable(raw)

    const mac = raw.config?.['volatile.eth0.hwaddr']
    const kept = Object.entries(raw.config ?? {}).filter(([each]) => !/^(volatile|image)\.|^(cloud-init\.|user\.)user-data$/.test(each))
    await change(
      transport,
      '/1.0/instances',
      {
        method: 'POST',
        body: {
          name: standIn,
          type: raw.type,
          description: raw.description ?? '',
          source: { type: 'image', fingerprint: imageFingerprint },
          profiles: raw.profiles ?? [],
          config: {
            ...Object.fromEntries(kept),
            ...Object.fromEntries(Object.entries(cloudInit).filter(([, value]) => value !== '')),
            // The same hardware address, so that DHCP gives the same lease.
            ...(mac !== undefined && { 'volatile.eth0.hwaddr': mac }),
            [standInKey]: name,
          },
          devices: raw.devices ?? {},
        },
      },
      options,
    )
    await remove(name, options)
    await rename()
  }

  /** What a file has of owner and mode; null where there is none, or the engine does not tell. */
  const fileAttributes = async (name: string, file: string, options: CallOptions): Promise<string | null> => {
    const method = (await server.has(options))('instance_file_head') ? 'HEAD' : 'GET'
    const { status, headers } = await transport.raw(`${path(name)}/files`, { method, query: { path: file }, signal: options.signal })
    if (status !== 200) return null
    const of = (key: string): string => String(headers[`x-lxd-${key}`] ?? headers[`x-incus-${key}`] ?? '')
    return `${Number.parseInt(of('mode'), 8).toString(8)} ${of('uid')} ${of('gid')}`
  }

  const writeFile: Instances['writeFile'] = async (name, file, options = {}) => {
    const mode = (file.mode & 0o7777).toString(8)
    const [uid, gid] = [String(file.uid ?? 0), String(file.gid ?? 0)]
    // The engine gives mode and owner to files that it makes, and leaves those of one that is there.
    const before = await fileAttributes(name, file.path, options)
    if (before !== null && before !== `${mode} ${uid} ${gid}`) {
      await transport.ask(`${path(name)}/files`, { method: 'DELETE', query: { path: file.path }, signal: options.signal })
    }
    const about = { type: 'file', mode: mode.padStart(4, '0'), uid, gid, write: 'overwrite' }
    // Incus reads the same under its own name.
    const headers = Object.fromEntries(
      Object.entries(about).flatMap(([key, value]) => [
        [`x-lxd-${key}`, value],
        [`x-incus-${key}`, value],
      ]),
    )
    await transport.ask(`${path(name)}/files`, {
      method: 'POST',
      query: { path: file.path },
      raw: { content: file.content, headers: { ...headers, 'content-type': 'application/octet-stream' } },
      signal: options.signal,
    })
  }

  return {
    async list(options = {}) {
      const { metadata } = await transport.ask('/1.0/instances', { query: { recursion: '2' }, signal: options.signal })
      return parse(z.array(instance), metadata, 'instances')
        .filter((raw) => !isStandIn(raw))
        .map(shapeInstance)
    },
    async get(name, options = {}): Promise<Instance | null> {
      const raw = await find(name, options)
      return raw === null ? null : shapeInstance(raw)
    },
    create,
    start: (name, options = {}) => setState(name, 'running', { action: 'start', timeout: 30 }, options),
    stop,
    connect: (name, nic, options = {}) => server.nics.connect(name, nic, options),
    describe: (name, description, options = {}) =>
      updateInstance(transport, name, (raw) => (raw.description === description ? null : { description }), options),
    async restart(name, options = {}) {
      await found(name, options)
      await stop(name, options)
      await setState(name, 'running', { action: 'start', timeout: 30 }, options)
    },

    async resize(name, size, options = {}) {
      const patch = async (): Promise<void> => {
        const raw = await found(name, options)
        const root = raw.devices?.['root'] ?? raw.expanded_devices?.['root'] ?? { type: 'disk', path: '/' }
        const before = shapeInstance(raw).diskBytes
        if (before !== null && size.diskBytes < before) throw new EngineError('invalid', 'a disk cannot shrink')
        const body = {
          // A patch without it would take it away.
          description: raw.description ?? '',
          config: { 'limits.cpu': String(size.cpuCores), 'limits.memory': String(size.memoryBytes) },
          // Maps are merged one level deep, so the device goes in whole.
          devices: { root: { ...root, size: String(size.diskBytes) } },
        }
        await change(transport, path(name), { method: 'PATCH', body }, options)
      }
      await inTurn(transport, name, patch, options.signal)
    },

    async rebuild(name, image, options = {}) {
      const has = await server.has(options)
      const cloudInit = { [userDataKey(has)]: image.userData ?? '', ...(image.hostname !== undefined && { [vendorDataKey(has)]: vendorData(image.hostname) }) }
      await (has('instances_rebuild') ? rebuildInPlace : rebuildBeside)(name, image.imageFingerprint, cloudInit, options)
      await nameGuest(name, image.hostname, { by: 'create', of: image.imageFingerprint }, options)
    },

    delete: remove,
    snapshots: createSnapshots(transport, {
      start: (name, options) => setState(name, 'running', { action: 'start', timeout: 30 }, options),
      kill: (name, options) => stop(name, { ...options, force: true }),
    }),
    exec: (name, request, options = {}) => runCommand(transport, path(name), request, options),
    terminal: (name, request, options = {}) => openTerminal(transport, path(name), request, options),

    async readFile(name, file, options = {}) {
      const ask = { query: { path: file }, signal: options.signal, timeoutMs: silenceMs }
      const { headers, body: content } = await transport.stream(`${path(name)}/files`, ask)
      const sizeBytes = Number(headers['content-length'] ?? NaN)
      if (Number.isInteger(sizeBytes)) return { content, sizeBytes }
      content.destroy()
      throw new EngineError('bad_answer', `${file}: its length was not told`)
    },
    writeFile,

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
const isTaken = (error: EngineError): boolean => error.kind === 'conflict' || error.kind === 'busy' || /already|exists|in use/i.test(error.message)
