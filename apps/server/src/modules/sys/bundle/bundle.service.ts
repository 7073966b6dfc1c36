import type { Readable } from 'node:stream'
import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { bundleBytesMost, bundleCan, type Bundle, type bundles as calls } from '@zhisuan/contract/sys/bundle'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { bundleUses } from '../../../platform/kept/kept.store.ts'
import type { OutboundGuard } from '../../../platform/outbound/guard.ts'
import type { Platform } from '../../../platform/platform.ts'
import { TooMuch, type BundleFiles } from './bundle.files.ts'
import { asBundle, type BundleOperations } from './bundle.operations.ts'
import * as store from './bundle.store.ts'
import type { BundleRow } from './bundle.store.ts'

type Calls = typeof calls

/** Where its file is sent, and where nodes get it from. */
export const uploadPath = (id: string): string => `/api/sys/v1/bundles/${id}/content`
export const servedPath = (sha256: string): string => `/agent/bundles/${sha256}`

export type BundleService = ReturnType<typeof createBundles>

export function createBundles(
  platform: Pick<Platform, 'db' | 'operations'>,
  parts: { files: BundleFiles; operations: BundleOperations; guard: OutboundGuard },
) {
  const { db } = platform
  const { files, guard } = parts
  const shape = (row: BundleRow, uses: ReadonlyMap<string, number>): Bundle => ({
    id: row.id,
    name: row.name,
    version: row.version,
    format: row.format,
    sha256: row.sha256,
    status: row.status,
    size_bytes: row.size_bytes,
    error: row.error,
    used_by: uses.get(row.sha256) ?? 0,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })

  return {
    async list(query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const { total, rows } = await store.listBundles(db, query)
      const uses = await bundleUses(
        db,
        rows.map(({ sha256 }) => sha256),
      )
      return { total, items: rows.map((row) => shape(row, uses)) }
    },

    async create(actor: Actor, { url, ...announced }: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      const id = uuidv7()
      if (url !== undefined)
        await guard.check(new URL(url)).catch((error: unknown) => {
          throw asBundle(error)
        })
      await refusing({ bundles_sha256: ['bundleTaken', 'sha256'] }, () =>
        db.transaction().execute(async (tx) => {
          await store.insertBundle(tx, {
            id,
            ...announced,
            status: url === undefined ? 'uploading' : 'fetching',
            size_bytes: null,
            error: null,
            created_by: actor.user_id,
            created_by_name: actor.name,
          })
          if (url !== undefined) await platform.operations.begin(tx, parts.operations.create, { resource_id: id, bp_id: null, actor, input: { url } })
        }),
      )
      return { bundle: shape(found(await store.getBundle(db, id)), new Map()), upload_path: url === undefined ? uploadPath(id) : null }
    },

    /** Takes its file. @throws Refusal where it is not what was announced; it may be sent again then */
    async upload(id: string, source: Readable, announcedBytes: number | null): Promise<void> {
      const row = found(await store.getBundle(db, id))
      refuseUnless(bundleCan.upload, row)
      if (announcedBytes !== null && announcedBytes > bundleBytesMost) throw new Refusal('bodyTooLarge')
      if ((await files.room()) < (announcedBytes ?? 0)) throw new Refusal('filesExhausted')
      const written = await files.write(source, bundleBytesMost).catch((error: unknown) => {
        throw error instanceof TooMuch ? new Refusal('bodyTooLarge', { cause: error }) : error
      })
      try {
        if (written.sha256 !== row.sha256) throw new Refusal('bundleDigestWrong', { values: { sha256: written.sha256 } })
        // Of two who send it at once both have sent the same.
        await files.keep(written)
        await store.updateBundleIf(db, id, 'uploading', { status: 'ready', size_bytes: written.sizeBytes })
      } finally {
        await files.drop(written.path)
      }
    },

    async delete(id: string): Promise<void> {
      const { sha256 } = await db.transaction().execute(async (tx) => {
        const row = found(await store.lockBundle(tx, id))
        refuseUnless(bundleCan.delete, row)
        const count = (await bundleUses(tx, [row.sha256])).get(row.sha256) ?? 0
        if (count > 0) throw new Refusal('bundleInUse', { values: { count } })
        await store.removeBundle(tx, id)
        return row
      })
      await files.drop(files.pathOf(sha256))
    },

    /** For whoever asks by its digest: who knows that has it, or was told of it by the platform. */
    async served(sha256: string): Promise<{ path: string; sizeBytes: number }> {
      const row = found(await store.readyBundle(db, sha256))
      return { path: files.pathOf(row.sha256), sizeBytes: found(row.size_bytes) }
    },

    /**
     * What a node is told of it.
     * @param of.entry the program in it
     * @throws Refusal `bundleUnknown` where it is not here
     */
    async programOf(
      on: Sql,
      id: string,
      of: { readonly entry: string; readonly version_arguments: string[] | null },
    ): Promise<{ readonly version: string; readonly program: KeptWanted['program'] }> {
      const row = await store.getBundle(on, id)
      if (row?.status !== 'ready' || row.size_bytes === null) throw new Refusal('bundleUnknown', { field: 'bundle_id' })
      const { sha256, size_bytes, format, version } = row
      return { version, program: { kind: 'bundle', sha256, size_bytes, format, path: servedPath(sha256), ...of } }
    },
  }
}
