import { finished, type Readable } from 'node:stream'
import { transferKinds, transferOutcomes, type FileTransfer, type fileTransfers } from '@zhisuan/contract/files/file'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { iso, type Sql } from '../../platform/db/database.ts'
import { readOn, shapedPage } from '../../platform/db/page.ts'
import { fileDay, offerExport } from '../../platform/exports.ts'
import { FileStream } from '../../platform/bytes/fileStream.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Platform } from '../../platform/platform.ts'
import { counted } from './counted.ts'
import * as store from './files.store.ts'
import { machineOf, placeTexts, transferTexts as texts } from './files.texts.ts'

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
export type Told = Pick<store.ShownTransfer, 'kind' | 'name' | 'space_kind' | 'size_bytes' | 'ip'> &
  Partial<Pick<store.ShownTransfer, 'sha256' | 'upload_id' | 'outcome' | 'machine' | 'owner_id'>>

/** Who moves it; without a person: who came by a share, or without an account. */
type By = Pick<Actor, 'user_id' | 'name' | 'bp_id'> | { readonly bp_id: string | null }

/** What went in and out, who moved it, and how it ended. */
export function createTransfers({ db, downloads, log, now }: Pick<Platform, 'db' | 'downloads' | 'log' | 'now'>) {
  const link = offerExport<store.ShownTransfer, Wish>(downloads, {
    kind: 'file-transfers',
    wish: filters as z.ZodType<Wish>,
    name: () => `${texts.file}-${fileDay(now())}`,
    columns: [
      { title: texts.columns.startedAt, cell: (row) => ({ moment: row.started_at }) },
      { title: texts.columns.endedAt, cell: (row) => (row.ended_at === null ? null : { moment: row.ended_at }) },
      { title: texts.columns.kind, cell: (row) => texts.kinds[row.kind] },
      { title: texts.columns.name, cell: (row) => seen(row).name },
      { title: texts.columns.space, cell: (row) => placeTexts[row.space_kind] },
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

  const rowOf = (by: By, told: Told) => {
    const over = told.kind === 'publish' || told.outcome === 'done'
    return {
      id: uuidv7(),
      bp_id: by.bp_id,
      user_id: 'user_id' in by ? by.user_id : null,
      user_name: 'name' in by ? by.name : null,
      owner_id: told.space_kind === 'personal' && 'user_id' in by ? by.user_id : null,
      sha256: null,
      upload_id: null,
      machine: null,
      reason: null,
      ...told,
      outcome: over ? ('done' as const) : ('running' as const),
      bytes: over ? (told.size_bytes ?? 0) : 0,
      ended_at: over ? now() : null,
    }
  }
  /** Writes one down: at its beginning, or where it is over at once. @returns its id */
  const told = async (on: Sql, by: By, what: Told): Promise<string> => {
    const row = rowOf(by, what)
    await store.insertTransfer(on, row)
    return row.id
  }

  return {
    told,
    /** Many of one person at once. */
    async toldAll(on: Sql, by: By, all: readonly Told[]): Promise<void> {
      if (all.length > 0)
        await store.insertTransfer(
          on,
          all.map((one) => rowOf(by, one)),
        )
    },
    /**
     * Writes down what of a stream really goes out.
     * @param settled told at its end how much that was
     * @returns the stream to be read instead
     */
    async follow(stream: Readable, by: By, what: Told, settled: (bytes: number) => Promise<void> = async () => undefined): Promise<Readable> {
      const id = await told(db, by, what).catch((error: unknown) => {
        // Nobody reads it now.
        stream.destroy()
        throw error
      })
      const ended = ({ bytes, whole }: { bytes: number; whole: boolean }): void => {
        const outcome = whole ? ({ outcome: 'done' } as const) : ({ outcome: 'cancelled', reason: texts.leftOff } as const)
        Promise.all([store.endTransfer(db, { id }, { ...outcome, bytes }), settled(bytes)]).catch((failed: unknown) =>
          log.warn({ err: failed }, 'the end of a download was not written down'),
        )
      }
      if (stream instanceof FileStream) {
        void stream.outcome.then(ended)
        return stream
      }
      const counting = counted(stream)
      finished(counting.stream, (error) => ended({ bytes: counting.bytes(), whole: error === null || error === undefined }))
      return counting.stream
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
