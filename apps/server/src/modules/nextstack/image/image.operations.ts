import type { ComputeEngine, Image } from '@zhisuan/engines/compute'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, OperationStep, Reached, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { runsCloudInit, type Catalogue } from '../catalogue/catalogue.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import type { OutboundGuard } from '../../../platform/outbound/guard.ts'
import { fetchFile } from '../../../platform/outbound/fetch.ts'
import { importable, sha256Of, type ImageFiles } from './image.files.ts'
import * as store from './image.store.ts'
import type { ImageRow } from './image.store.ts'

const nothing = z.object({})
const fetchInput = z.object({ url: z.string() })
const publishInput = z.object({ instance: z.string(), snapshot: z.string().nullable() })

/** While bytes come, how often people are told how many. */
const tellEveryMs = 1_000

/** How an image is recognised as ours on the engine. */
export const tagsOf = (imageId: string): Record<string, string> => ({ image_id: imageId })
/** The engine's name for it: never what a person typed. */
const aliasOf = (imageId: string): string => `zs-${imageId.replaceAll('-', '')}`

export type ImageOperations = ReturnType<typeof createImageOperations>

/**
 * The long work on images. An engine holds an image's bytes once, whoever brought them: rows that
 * have the same fingerprint share it, and it goes with the last of them.
 */
export function createImageOperations(parts: {
  db: Db
  clouds: Pick<CloudService, 'engine'>
  quotas: Pick<QuotaService, 'take'>
  catalogue: Pick<Catalogue, 'forget'>
  files: ImageFiles
  guard: OutboundGuard
  maxBytes: number
}) {
  const { db, clouds, quotas, catalogue, files, guard } = parts

  const open = async (context: StepContext<unknown>): Promise<{ image: ImageRow; engine: ComputeEngine }> => {
    const image = await store.getImage(db, platformScope, context.resource_id)
    // Its cloud was removed by force while the operation waited.
    if (image === undefined) throw new Refusal('imageMissing')
    return { image, engine: await clouds.engine(image.cloud_id) }
  }
  const step = <Input>(
    name: string,
    reached: Reached<Input>,
    act: (engine: ComputeEngine, image: ImageRow, context: StepContext<Input>) => Promise<void>,
  ): OperationStep<Input> => ({
    name,
    reached,
    run: async (context: StepContext<Input>) => {
      const { image, engine } = await open(context)
      await act(engine, image, context)
    },
  })

  const onEngine = async (engine: ComputeEngine, so: (image: Image) => boolean, signal: AbortSignal): Promise<Image | undefined> =>
    (await engine.images.list({ signal })).find(so)

  /** From here on the row counts as one that has these bytes. @throws Refusal 94166 where its organisation has them already */
  const claim = async (image: ImageRow, fingerprint: string): Promise<void> => {
    const exists = async (cause: unknown) => new Refusal('imageExists', { values: { name: (await store.nameOfContent(db, image, fingerprint)) ?? '' }, cause })
    await refusing({ [store.imageContentIndex]: exists }, () =>
      db.transaction().execute(async (tx) => {
        // Not while the last that had them takes them from the engine.
        await store.lockContent(tx, image.cloud_id, fingerprint)
        await store.updateImage(tx, image.id, { fingerprint })
      }),
    )
  }
  /** The row has its bytes no longer; the last one takes them from the engine. */
  const release = async (engine: ComputeEngine, { id, cloud_id, fingerprint }: ImageRow, signal: AbortSignal): Promise<void> => {
    if (fingerprint === null) return
    await db.transaction().execute(async (tx) => {
      await store.lockContent(tx, cloud_id, fingerprint)
      if ((await store.othersWith(tx, { id, cloud_id }, fingerprint)).length === 0) await engine.images.delete?.(fingerprint, { signal })
      await store.updateImage(tx, id, { fingerprint: null })
    })
    catalogue.forget(cloud_id)
  }

  /** What the engine says of it; what a person said of it stands. */
  const record = async (engine: ComputeEngine, image: ImageRow, fingerprint: string, suffix: string | null, signal: AbortSignal): Promise<void> => {
    const made = await onEngine(engine, (one) => one.fingerprint === fingerprint, signal)
    if (made === undefined) throw new Refusal('imageMissing')
    await store.updateImage(db, image.id, {
      fingerprint,
      suffix,
      type: made.type,
      architecture: made.architecture,
      size_bytes: made.sizeBytes,
      os: image.os ?? made.os,
      release: image.release ?? made.release,
      cloud_init: image.cloud_init || runsCloudInit(made),
    })
  }

  const verify = step<unknown>('verify', 'ours', async (_, image, { signal }) => {
    await store.updateImage(db, image.id, { status: 'importing' })
    const sha256 = await sha256Of([files.pathOf(image.id)], signal)
    if (image.sha256 !== null && image.sha256 !== sha256) throw new Refusal('imageChecksumWrong')
    await store.updateImage(db, image.id, { sha256 })
  })

  const importStep = step<unknown>('import', 'partly', async (engine, image, { signal }) => {
    const { suffix, ...file } = await importable(files.pathOf(image.id), image, signal)
    const fingerprint = await sha256Of([file.metadataPath, ...(file.rootfsPath === undefined ? [] : [file.rootfsPath])], signal)
    const there = await onEngine(engine, (one) => one.fingerprint === fingerprint, signal)
    await claim(image, fingerprint)
    const shared =
      there !== undefined &&
      (there.tags['image_id'] === undefined || (await store.othersWith(db, image, fingerprint)).some(({ status }) => status !== 'importing'))
    if (!shared) {
      try {
        await engine.images.importFile?.({ alias: aliasOf(image.id), ...file, tags: tagsOf(image.id) }, { signal })
      } catch (error) {
        const others = (await store.othersWith(db, image, fingerprint)).length > 0
        // Others bring the same bytes at this moment: when theirs are there, they are ours too.
        if (others && isEngineError(error, 'failed')) throw new EngineError('busy', error.message, { cause: error })
        if (isEngineError(error, 'invalid', 'failed')) throw new Refusal('imageUnreadable', { cause: error })
        if (!others || !isEngineError(error, 'conflict')) throw error
      }
    }
    await record(engine, image, fingerprint, suffix, signal)
  })

  const clean = step<unknown>('clean', 'ours', (_, { id }) => files.remove(id))

  /** Nothing of it is left: neither here nor, where nobody else has it, on the engine. */
  const discard = async (engine: ComputeEngine, image: ImageRow, signal: AbortSignal): Promise<void> => {
    await files.remove(image.id)
    await release(engine, image, signal)
  }

  const ended = async (tx: Tx, { resource_id }: StepContext<unknown>, refusal: Refusal | null): Promise<void> => {
    if (refusal === null) await store.updateImage(tx, resource_id, { status: 'active', error_text: null })
    else if (refusal.refusal === 'operationCancelled') await store.deleteImage(tx, resource_id)
    else await store.updateImage(tx, resource_id, { status: 'error', error_text: refusal.message })
    const image = await store.getImage(tx, platformScope, resource_id)
    if (image !== undefined) catalogue.forget(image.cloud_id)
  }
  const undo = async (context: StepContext<unknown>): Promise<void> => {
    const { image, engine } = await open(context)
    await discard(engine, image, context.signal)
  }

  const upload: OperationDefinition<object> = {
    kind: 'nextstack.image.upload',
    input: nothing,
    steps: [verify, importStep, clean],
    undo,
    ended,
  }

  const fetch: OperationDefinition<z.output<typeof fetchInput>> = {
    kind: 'nextstack.image.fetch',
    input: fetchInput,
    steps: [
      {
        ...step<z.output<typeof fetchInput>>('fetch', 'ours', async (_, image, { input, signal }) => {
          await files.make(image.id)
          let [told, received] = [Date.now(), await files.sizeOf(image.id)]
          await fetchFile({
            url: input.url,
            path: files.pathOf(image.id),
            maxBytes: parts.maxBytes,
            guard,
            signal,
            // Before the bytes come, where the other side says how many.
            onTotal: (total) =>
              db.transaction().execute(async (tx) => {
                if ((await files.room()) < total - received) throw new Refusal('filesExhausted')
                const row = await store.lockImage(tx, platformScope, image.id)
                if (row === undefined || row.size_bytes === total) return
                await quotas.take(tx, { bp_id: row.bp_id, project_id: null }, { image_bytes: total - (row.size_bytes ?? 0) })
                await store.updateImage(tx, image.id, { size_bytes: total })
              }),
            onProgress: async (bytes) => {
              received = bytes
              if (Date.now() - told < tellEveryMs) return
              told = Date.now()
              // Not all say how much there will be.
              if ((await files.room()) < 0) throw new Refusal('filesExhausted')
              store.updateImageIf(db, image.id, 'fetching', { received_bytes: bytes }).catch(() => undefined)
            },
          })
          await store.updateImageIf(db, image.id, 'fetching', { received_bytes: Math.max(received, await files.sizeOf(image.id)) })
        }),
        cancellable: true,
      },
      verify,
      importStep,
      clean,
    ],
    undo,
    ended,
  }

  const fromVm: OperationDefinition<z.output<typeof publishInput>> = {
    kind: 'nextstack.image.fromVm',
    input: publishInput,
    steps: [
      {
        ...step<z.output<typeof publishInput>>('publish', 'partly', async (engine, image, { input, signal }) => {
          const { name, description, os, release, cloud_init } = image
          const properties = { ...(os !== null && { os }), ...(release !== null && { release }), ...(cloud_init && { 'cloud-init': 'true' }) }
          try {
            const fingerprint = await engine.images.publish?.(
              input,
              { alias: aliasOf(image.id), description: description === '' ? name : description, properties, tags: tagsOf(image.id) },
              { signal },
            )
            if (fingerprint === undefined) throw new Refusal('engineUnsupported')
            await claim(image, fingerprint)
            await record(engine, image, fingerprint, engine.kind === 'sandbox' ? '.tar' : '.tar.gz', signal)
          } catch (error) {
            if (isEngineError(error, 'not_found')) throw new Refusal('vmGone', { cause: error })
            if (isEngineError(error, 'invalid')) throw new Refusal('stateForbids', { cause: error })
            throw error
          }
        }),
        cancellable: true,
      },
    ],
    // Published and not claimed, or still being made by an engine that cannot leave off.
    undo: async (context) => {
      const { image, engine } = await open(context)
      const made = (await engine.images.published?.({ alias: aliasOf(image.id), tags: tagsOf(image.id) }, { signal: context.signal })) ?? []
      for (const fingerprint of new Set([image.fingerprint, ...made])) await discard(engine, { ...image, fingerprint }, context.signal)
    },
    ended,
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.image.delete',
    input: nothing,
    steps: [step('delete', 'partly', (engine, image, { signal }) => discard(engine, image, signal))],
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal === null) return store.deleteImage(tx, resource_id)
      const image = await store.lockImage(tx, platformScope, resource_id)
      if (image === undefined) return
      // Still there, as far as is known; who looks at the engine finds out.
      await store.updateImage(tx, resource_id, { status: image.fingerprint === null ? 'error' : 'active', error_text: refusal.message })
    },
  }

  return { upload, fetch, fromVm, delete: remove }
}
