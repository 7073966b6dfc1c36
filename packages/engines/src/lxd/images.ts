import { createHash } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FormData } from 'undici'
import { z } from 'zod'
import type { CallOptions, Images } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { refuseAborted } from '../signals.ts'
import { imageFiles } from './images.export.ts'
import { createPublish } from './images.publish.ts'
import { find } from './objects.ts'
import { change } from './operations.ts'
import { image, imageMark, markOf, parse, shapeImage } from './parse.ts'
import { sameTexts } from './tags.ts'
import type { Ask, Transport } from './transport.ts'

/** Images are as large as disks; the engine unpacks them while it answers. */
const importTimeoutMs = 3_600_000

type ImageFile = Parameters<NonNullable<Images['importFile']>>[0]

export function createImages(transport: Transport): Required<Images> {
  const path = (fingerprint: string): string => `/1.0/images/${encodeURIComponent(fingerprint)}`

  const get = async (fingerprint: string, options: CallOptions) => (await find(transport, path(fingerprint), image, 'image', options))?.raw ?? null
  /** Whether the server has it; with other tags than these it is another's. */
  const holds = async (fingerprint: string, { tags }: ImageFile, options: CallOptions): Promise<boolean> => {
    const raw = await get(fingerprint, options)
    if (raw !== null && tags !== undefined && !sameTexts(markOf(raw).tags, tags))
      throw new EngineError('conflict', `the image ${fingerprint} is there and is not ours`)
    return raw !== null
  }

  /** Lets the alias name this image, whatever it named before. */
  const name = async (alias: string, target: string, options: CallOptions): Promise<void> => {
    try {
      await transport.ask('/1.0/images/aliases', { method: 'POST', body: { name: alias, target }, signal: options.signal })
    } catch (error) {
      if (!isEngineError(error, 'conflict')) throw error
      await transport.ask(`/1.0/images/aliases/${encodeURIComponent(alias)}`, { method: 'PUT', body: { target, description: '' }, signal: options.signal })
    }
  }

  const remove = async (fingerprint: string, options: CallOptions = {}): Promise<void> => {
    try {
      await change(transport, path(fingerprint), { method: 'DELETE' }, options)
    } catch (error) {
      if (!isEngineError(error, 'not_found')) throw error
    }
  }

  return {
    async list(options = {}) {
      const { metadata } = await transport.ask('/1.0/images', { query: { recursion: '1' }, signal: options.signal })
      return parse(z.array(image), metadata, 'images').map(shapeImage)
    },

    async importFile(file, options = {}) {
      refuseAborted(options.signal)
      const fingerprint = await fingerprintOf(file)
      if (!(await holds(fingerprint, file, options))) {
        try {
          await change(transport, '/1.0/images', { method: 'POST', raw: await uploadOf(file, fingerprint), timeoutMs: importTimeoutMs }, options)
        } catch (error) {
          // Somebody else imported the same meanwhile.
          if (!isEngineError(error, 'conflict', 'failed', 'busy') || !(await holds(fingerprint, file, options))) throw error
        }
      }
      await name(file.alias, fingerprint, options)
      return fingerprint
    },

    delete: remove,
    ...createPublish(transport, { name, remove }),

    async setProperties(fingerprint, properties, options = {}) {
      if (imageMark in properties) throw new EngineError('invalid', `not a property: ${imageMark}`)
      // What is empty is not kept.
      await transport.ask(path(fingerprint), { method: 'PATCH', body: { properties }, signal: options.signal })
    },

    async export(fingerprint, options = {}) {
      const raw = await get(fingerprint, options)
      if (raw === null) throw new EngineError('not_found', `no image ${fingerprint}`)
      return { sizeBytes: raw.size, files: imageFiles(transport, raw, options) }
    },
  }
}

const unreadable = (error: unknown): EngineError => new EngineError('invalid', error instanceof Error ? error.message : String(error), { cause: error })

/** LXD's fingerprint: the SHA-256 of the file, or of both one after the other. */
async function fingerprintOf(file: ImageFile): Promise<string> {
  const hash = createHash('sha256')
  try {
    for (const path of [file.metadataPath, file.rootfsPath]) {
      if (path !== undefined) await pipeline(createReadStream(path), hash, { end: false })
    }
  } catch (error) {
    throw unreadable(error)
  }
  return hash.digest('hex')
}

async function uploadOf(file: ImageFile, fingerprint: string): Promise<NonNullable<Ask['raw']>> {
  // The file may bring properties of its own, which these overwrite: among them what marks an image as ours.
  const properties = new URLSearchParams({ ...file.properties, [imageMark]: JSON.stringify({ tags: file.tags ?? {} }) }).toString()
  // Incus reads the same under its own name.
  const headers = { 'x-lxd-properties': properties, 'x-incus-properties': properties, 'x-lxd-fingerprint': fingerprint, 'x-incus-fingerprint': fingerprint }
  try {
    if (file.rootfsPath === undefined) {
      return { content: createReadStream(file.metadataPath), headers: { ...headers, 'content-type': 'application/octet-stream' } }
    }
    const form = new FormData()
    form.append('metadata', await openAsBlob(file.metadataPath), basename(file.metadataPath))
    // The name of the part says for what type of instance it is.
    form.append((await isDisk(file.rootfsPath)) ? 'rootfs.img' : 'rootfs', await openAsBlob(file.rootfsPath), basename(file.rootfsPath))
    return { content: form, headers }
  } catch (error) {
    throw unreadable(error)
  }
}

/** Virtual machines' disks come as qcow2, which begins with these bytes; root file systems do not. */
async function isDisk(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.equals(Buffer.from('QFI\xFB', 'latin1'))
  } finally {
    await file.close()
  }
}
