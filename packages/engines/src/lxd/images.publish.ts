import { z } from 'zod'
import type { CallOptions, Images } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { find } from './objects.ts'
import { change, namesIn, settle, type LxdOperation } from './operations.ts'
import { image, imageMark, instance, markOf, parse, powerOf } from './parse.ts'
import { findSnapshot } from './snapshots.ts'
import { sameTexts } from './tags.ts'
import type { Transport } from './transport.ts'

type Publish = Required<Images>['publish']
type Wanted = Parameters<Required<Images>['published']>[0]

/** A publication names neither its source nor what it makes: whatever makes an image may be one. */
const makesImage = (one: LxdOperation): boolean => /\bimage\b/i.test(one.description ?? '') && namesIn(one, 'instances', 'containers', 'images').length === 0

export function createPublish(
  transport: Transport,
  images: { name(alias: string, fingerprint: string, options: CallOptions): Promise<void>; remove(fingerprint: string, options: CallOptions): Promise<void> },
): Pick<Required<Images>, 'publish' | 'published'> {
  /** What was published so before, the first one first. */
  const former = async ({ alias, tags }: Wanted, options: CallOptions): Promise<string[]> => {
    const { metadata } = await transport.ask('/1.0/images', { query: { recursion: '1' }, signal: options.signal })
    return parse(z.array(image), metadata, 'images')
      .filter((raw) => markOf(raw).published === alias && sameTexts(markOf(raw).tags, tags))
      .map(({ uploaded_at, fingerprint }) => ({ key: `${uploaded_at ?? ''} ${fingerprint}`, fingerprint }))
      .sort((one, other) => (one.key < other.key ? -1 : 1))
      .map(({ fingerprint }) => fingerprint)
  }

  /** Properties of the image that the source came from. */
  const inherited = async (from: Parameters<Publish>[0], options: CallOptions): Promise<Record<string, string>> => {
    const raw = (await find(transport, `/1.0/instances/${encodeURIComponent(from.instance)}`, instance, 'instance', options))?.raw
    if (raw === undefined) throw new EngineError('not_found', `no instance ${from.instance}`)
    if (from.snapshot === null && powerOf(raw.status_code) !== 'stopped') throw new EngineError('invalid', `${from.instance} is not stopped`)
    const source = from.snapshot === null ? raw : await findSnapshot(transport, from.instance, from.snapshot, options)
    if (source === null) throw new EngineError('not_found', `no snapshot ${from.snapshot} of ${from.instance}`)
    const kept = Object.entries(source.config ?? {}).filter(([key]) => key.startsWith('image.') && key !== `image.${imageMark}`)
    return Object.fromEntries(kept.map(([key, value]) => [key.slice('image.'.length), value]))
  }

  const publish: Publish = async (from, wanted, options = {}) => {
    await settle(transport, from.instance, options)
    if ((await former(wanted, options)).length === 0) {
      const named = await find(transport, `/1.0/images/aliases/${encodeURIComponent(wanted.alias)}`, z.object({ target: z.string() }), 'alias', options)
      if (named !== null) throw new EngineError('conflict', `${wanted.alias} names another image`)
      const body = {
        source: from.snapshot === null ? { type: 'instance', name: from.instance } : { type: 'snapshot', name: `${from.instance}/${from.snapshot}` },
        properties: {
          ...(await inherited(from, options)),
          ...wanted.properties,
          description: wanted.description,
          [imageMark]: JSON.stringify({ tags: wanted.tags, published: wanted.alias }),
        },
      }
      try {
        await change(transport, '/1.0/images', { method: 'POST', body }, options)
      } catch (error) {
        // The same bytes as of a former request, which was still running.
        if (!isEngineError(error, 'conflict') || (await former(wanted, options)).length === 0) throw error
      }
    }
    // Two who ask at a time make two: all keep the first.
    const [kept, ...doubles] = await former(wanted, options)
    if (kept === undefined) throw new EngineError('failed', `the image of ${from.instance} was deleted when it was just published`)
    for (const double of doubles) await images.remove(double, options)
    await images.name(wanted.alias, kept, options)
    return kept
  }

  return {
    publish,
    async published(wanted, options = {}) {
      await settle(transport, '', options, makesImage)
      return former(wanted, options)
    },
  }
}
