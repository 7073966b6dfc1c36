import { createHash, randomBytes } from 'node:crypto'
import type { FileShare, fileShares } from '@zhisuan/contract/files/file'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import type { Actor } from '../../platform/auth/actor.ts'
import { iso } from '../../platform/db/database.ts'
import { shapedPage } from '../../platform/db/page.ts'
import { found, Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Platform } from '../../platform/platform.ts'
import { readable } from '../../platform/secrets.ts'
import type { FileDownloads } from './files.download.ts'
import * as store from './files.store.ts'
import { refuseWithin, type Asked } from './within.ts'

type Calls = typeof fileShares

export interface Passwords {
  hash(password: string): Promise<string>
  verify(hash: string | null, password: string): Promise<boolean>
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()
const sealPlace = (id: string): string => `file_shares.token ${id}`

/** Links by which whoever has them downloads, also without an account. */
export function createShares(
  { db, secrets, now }: Pick<Platform, 'db' | 'secrets' | 'now'>,
  { passwords, downloads }: { passwords: Passwords; downloads: FileDownloads },
) {
  /** What a link leads to; absent, ended and taken back look the same. */
  const shared = async (token: string) => {
    const share = await store.shareByToken(db, hashOf(token))
    if (share === undefined || (share.ends_at !== null && share.ends_at <= now())) throw new Refusal('shareGone')
    return share
  }
  const shape = (row: store.ShownShare): FileShare => ({
    id: row.id,
    entry: { id: row.entry_id, name: row.entry_name },
    entry_kind: row.entry_kind,
    token: readable(() => secrets.open(row.token, sealPlace(row.id)), null),
    has_password: row.password !== null,
    ends_at: row.ends_at === null ? null : iso(row.ends_at),
    downloads_left: row.downloads_left,
    download_count: row.download_count,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listShares(db, actor, query), shape),

    async create(actor: Actor, body: BodyOf<Calls['create']>, asked: Asked): Promise<FileShare> {
      const entry = await store.entryOf(db, actor, body.entry_id)
      if (entry === undefined || entry.bin_id !== null) throw new Refusal('notFound')
      await refuseWithin(db, actor, asked, ['files.share.create', 'files.entry.download'], [entry.id])
      if (body.ends_at !== null && new Date(body.ends_at) <= now()) throw new Refusal('fieldsInvalid', { field: 'ends_at' })
      const [id, token] = [uuidv7(), randomBytes(16).toString('base64url')]
      await store.insertShare(db, {
        id,
        entry_id: entry.id,
        token_hash: hashOf(token),
        token: secrets.seal(token, sealPlace(id)),
        password: body.password === null ? null : await passwords.hash(body.password),
        ends_at: body.ends_at === null ? null : new Date(body.ends_at),
        downloads_left: body.downloads,
        created_by: actor.user_id,
        created_by_name: actor.name,
      })
      return shape(found(await store.shareOf(db, actor, id)))
    },

    async delete(actor: Actor, id: string): Promise<void> {
      found(await store.shareOf(db, actor, id))
      await store.deleteShare(db, id)
    },

    async look(token: string): Promise<ResponseOf<Calls['look']>> {
      const share = await shared(token)
      if (share.password !== null) return { needs_password: true, of: null }
      return {
        needs_password: false,
        of: {
          name: share.entry_name,
          kind: share.entry_kind,
          size_bytes: share.size_bytes,
          ends_at: share.ends_at === null ? null : iso(share.ends_at),
          downloads_left: share.downloads_left,
          shared_by: share.created_by_name,
        },
      }
    },

    async open(token: string, password: string | null, ip: string): Promise<ExportLink> {
      const share = await shared(token)
      if (share.password !== null && !(await passwords.verify(share.password, password ?? ''))) throw new Refusal('sharePasswordWrong', { field: 'password' })
      // It counts once something is fetched by it.
      if (share.downloads_left === 0) throw new Refusal('shareExhausted')
      return downloads.linkOfShare(share.id, share.entry_id, ip)
    },
  }
}
export type Shares = ReturnType<typeof createShares>
