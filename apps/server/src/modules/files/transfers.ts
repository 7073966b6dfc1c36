import { transferKinds, transferOutcomes, type FileTransfer, type fileTransfers } from '@zhisuan/contract/files/file'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { iso, type Sql } from '../../platform/db/database.ts'
import { readOn, shapedPage } from '../../platform/db/page.ts'
import { fileDay, offerExport } from '../../platform/exports.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Platform } from '../../platform/platform.ts'
import * as store from './files.store.ts'
import { machineOf, spaceTexts, transferTexts as texts } from './files.texts.ts'

type Calls = typeof fileTransfers

const filters = z.object({
  viewer: z.string(),
  keyword: z.string().optional(),
  kind: z.enum(transferKinds).optional(),
  outcome: z.enum(transferOutcomes).optional(),
  bp_id: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
})

export type Transfers = ReturnType<typeof createTransfers>

/** What an export is asked for besides its format, and who asks. */
type Wish = store.TransferFilters & { readonly viewer: string }
/** `owner_id`: whose personal space it is, where that is not who moves it. */
type Told = Pick<store.ShownTransfer, 'kind' | 'name' | 'space_kind' | 'size_bytes' | 'ip'> &
  Partial<Pick<store.ShownTransfer, 'sha256' | 'upload_id' | 'outcome' | 'machine' | 'owner_id'>>

/** What went in and out, who moved it, and how it ended. */
export function createTransfers({ db, downloads, now }: Pick<Platform, 'db' | 'downloads' | 'now'>) {
  const link = offerExport<store.ShownTransfer, Wish>(downloads, {
    kind: 'file-transfers',
    wish: filters as z.ZodType<Wish>,
    name: () => `${texts.file}-${fileDay(now())}`,
    columns: [
      { title: texts.columns.startedAt, cell: (row) => ({ moment: row.started_at }) },
      { title: texts.columns.endedAt, cell: (row) => (row.ended_at === null ? null : { moment: row.ended_at }) },
      { title: texts.columns.kind, cell: (row) => texts.kinds[row.kind] },
      { title: texts.columns.name, cell: (row) => seen(row).name },
      { title: texts.columns.space, cell: (row) => spaceTexts[row.space_kind] },
      { title: texts.columns.machine, cell: (row) => seen(row).machine },
      { title: texts.columns.organisation, cell: (row) => row.bp_name },
      { title: texts.columns.user, cell: (row) => row.user_name },
      { title: texts.columns.ip, cell: (row) => row.ip },
      { title: texts.columns.size, cell: (row) => row.size_bytes },
      { title: texts.columns.bytes, cell: (row) => row.bytes },
      { title: texts.columns.rate, cell: rateOf },
      { title: texts.columns.sha256, cell: (row) => seen(row).sha256 },
      { title: texts.columns.outcome, cell: (row) => texts.outcomes[row.outcome] },
      { title: texts.columns.reason, cell: (row) => seen(row).reason },
    ],
    rows: (_, { viewer, ...wish }) => readOn<store.ShownTransfer>((last) => store.transfersOn(db, { user_id: viewer }, wish, last)),
  })

  return {
    /** Writes one down: at its beginning, or where it is over at once. @param by null: who came by a share @returns its id */
    async told(on: Sql, by: Pick<Actor, 'user_id' | 'name' | 'bp_id'> | { readonly bp_id: string | null }, told: Told): Promise<string> {
      const id = uuidv7()
      const over = told.kind === 'publish' || told.outcome === 'done'
      await store.insertTransfer(on, {
        id,
        bp_id: by.bp_id,
        user_id: 'user_id' in by ? by.user_id : null,
        user_name: 'name' in by ? by.name : null,
        owner_id: told.space_kind === 'personal' && 'user_id' in by ? by.user_id : null,
        sha256: null,
        upload_id: null,
        machine: null,
        reason: null,
        ...told,
        outcome: over ? 'done' : 'running',
        bytes: over ? (told.size_bytes ?? 0) : 0,
        ended_at: over ? now() : null,
      })
      return id
    },
    ended: store.endTransfer,
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listTransfers(db, actor, query), shape),
    export: (actor: Actor, { format, ...asked }: BodyOf<Calls['export']>) => link(actor, scopeOf(actor), format, { ...asked, viewer: actor.user_id }),
    /** Of downloads whose server was killed nobody hears any more. */
    forgetRunning: () => store.forgetRunning(db, new Date(now().getTime() - 86_400_000), texts.serverEnded),
  }
}

function rateOf({ bytes, started_at, ended_at }: Pick<store.ShownTransfer, 'bytes' | 'started_at' | 'ended_at'>): number | null {
  if (ended_at === null) return null
  const ms = ended_at.getTime() - started_at.getTime()
  return ms <= 0 ? null : Math.round((bytes * 1000) / ms)
}

/** Of what lies in another's own space: that it went, how much and how it ended, and not what it was. Reasons and places say names too. */
const seen = ({ hidden, name, machine, sha256, reason }: store.ShownTransfer) =>
  hidden ? { name: null, machine: machine === null ? null : machineOf(machine), sha256: null, reason: null } : { name, machine, sha256, reason }

const shape = (row: store.ShownTransfer): FileTransfer => ({
  ...seen(row),
  id: row.id,
  kind: row.kind,
  space_kind: row.space_kind,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  user_name: row.user_name,
  ip: row.ip,
  size_bytes: row.size_bytes,
  bytes: row.bytes,
  rate: rateOf(row),
  outcome: row.outcome,
  started_at: iso(row.started_at),
  ended_at: row.ended_at === null ? null : iso(row.ended_at),
})
