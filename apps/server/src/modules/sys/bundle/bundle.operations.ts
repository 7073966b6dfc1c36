import { bundleBytesMost } from '@zhisuan/contract/sys/bundle'
import { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import { fetchFile } from '../../../platform/outbound/fetch.ts'
import type { OutboundGuard } from '../../../platform/outbound/guard.ts'
import type { BundleFiles } from './bundle.files.ts'
import * as store from './bundle.store.ts'

const input = z.object({ url: z.string() })

/** What is said of images is said of bundles. */
export function asBundle(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error
  if (error.refusal === 'imageFetchFailed') return new Refusal('bundleFetchFailed', { field: 'url', values: error.values, cause: error })
  if (error.refusal === 'imageAddressForbidden') return new Refusal('bundleAddressForbidden', { field: 'url', cause: error })
  return error
}

export function createBundleOperations({ db, files, guard }: { db: Db; files: BundleFiles; guard: OutboundGuard }) {
  const create: OperationDefinition<z.output<typeof input>> = {
    kind: 'sys.bundle.create',
    input,
    steps: [
      {
        name: 'fetch',
        // It goes on where it was.
        reached: 'ours',
        run: async ({ resource_id, input: { url }, signal }) => {
          files.makeRoot()
          try {
            await fetchFile({
              url,
              path: files.fetchedPath(resource_id),
              maxBytes: bundleBytesMost,
              guard,
              signal,
              onTotal: async (total) => {
                if ((await files.room()) < total) throw new Refusal('filesExhausted')
                await store.updateBundleIf(db, resource_id, 'fetching', { size_bytes: total })
              },
              onProgress: () => undefined,
            })
          } catch (error) {
            throw asBundle(error)
          }
        },
      },
      {
        name: 'verify',
        reached: 'ours',
        run: async ({ resource_id, signal }) => {
          const { sha256, status } = found(await store.getBundle(db, resource_id))
          if (status !== 'fetching') return
          const written = await files.look(files.fetchedPath(resource_id), signal)
          if (written.sha256 !== sha256) throw new Refusal('bundleDigestWrong', { values: { sha256: written.sha256 } })
          await files.keep(written)
          await store.updateBundleIf(db, resource_id, 'fetching', { status: 'ready', size_bytes: written.sizeBytes })
        },
      },
    ],
    undo: async ({ resource_id }) => files.dropFetched(resource_id),
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal !== null) await store.updateBundleIf(tx, resource_id, 'fetching', { status: 'error', error: refusal.message })
      await files.dropFetched(resource_id)
    },
  }
  return { create }
}
export type BundleOperations = ReturnType<typeof createBundleOperations>
