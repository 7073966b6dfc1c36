import type { ServiceHours, ticketDesk } from '@zhisuan/contract/ticket/desk'
import {
  ticketCan,
  ticketConfirmDays,
  ticketEntriesMost,
  ticketRateDays,
  ticketReviewed,
  ticketReviewers,
  ticketRunning,
  ticketStaff,
  ticketUrgeMinutes,
  type Ticket,
  type TicketDetail,
  type TicketEntryKind,
  type TicketPriority,
  type tickets,
  type TicketStatus,
  type TicketType,
} from '@zhisuan/contract/ticket/ticket'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import type { Kind } from '@zhisuan/contract/kind'
import { isPlatformKind, mayAccess } from '@zhisuan/contract/roles'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import type { UploadRow } from '../../platform/bytes/bytes.store.ts'
import { iso, isoOrNull, type Tx } from '../../platform/db/database.ts'
import { shapedPage } from '../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { KindParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell, Telling } from '../sys/message/message.service.ts'
import { dueOf, timed, usualHours } from './hours.ts'
import * as store from './ticket.store.ts'
import type { ShownTicket, TicketRow } from './ticket.store.ts'
import { ticketTexts } from './ticket.texts.ts'

type Own = typeof tickets
type Desk = typeof ticketDesk

const dayMs = 86_400_000
const openMost = 50
const waitingFilesMost = 30
/** That one person sends in a day. */
const dayBytesMost = 2 * 2 ** 30
const taker = 'ticket'
const wish = z.object({ name: z.string() })
const secretPlace = (id: string): string => `tickets.secret:${id}`
export const ticketUploadPath = (id: string): string => `/api/ticket/v1/uploads/${id}/content`

const clockJob = defineJob({ name: 'ticket.clock', input: z.object({}), concurrency: 1, schedule: '* * * * *' })
const mailJob = defineJob({ name: 'ticket.mail', input: z.object({ user_id: z.uuid(), text: z.string() }), concurrency: 4, retries: 5 })
const filesJob = defineJob({ name: 'ticket.files.forget', input: z.object({}), concurrency: 1, schedule: '47 * * * *' })

/** As a mail leaves the platform; null: nothing is configured to send with. */
export interface TicketMail {
  signed(text: string): string
  send(message: { channel: 'email'; address: string; purpose: string; text: string }): Promise<void> | null
}

/** Who does something; null: the platform by itself. */
interface By {
  readonly id: string
  readonly name: string
  readonly staff: boolean
}

/** One thing that happens to a work order. */
interface Step {
  readonly kind: TicketEntryKind
  readonly text?: string
  /** Who opened it does not see it. */
  readonly internal?: boolean
  readonly status?: TicketStatus
  readonly priority?: TicketPriority
  /** Somebody wrote to who opened it. */
  readonly answers?: boolean
  readonly changes?: Partial<TicketRow>
  readonly files?: readonly string[]
}

export type TicketService = ReturnType<typeof createTickets>

/** Work orders: whoever has a question, and whoever answers it. Rows are the record, and what was said is never changed. */
/** What work orders need of the storage core. */
export type TicketBytes = Pick<Bytes, 'receive' | 'announce' | 'upload' | 'uploadsOf' | 'read' | 'release'>

export function createTickets(platform: Platform, { bytes, tell, mail }: { bytes: TicketBytes; tell: Tell; mail: TicketMail }) {
  const { db, downloads, jobs, secrets, now } = platform

  const numberOf = ({ serial, created_at }: Pick<TicketRow, 'serial' | 'created_at'>): string =>
    `${new Date(created_at.getTime() + 8 * 3_600_000).toISOString().slice(0, 10).replaceAll('-', '')}-${String(serial).padStart(4, '0')}`
  const byOf = (actor: Actor, staff: boolean): By => ({ id: actor.user_id, name: actor.name, staff })

  const hoursNow = async (tx: Tx): Promise<{ id: number; hours: ServiceHours }> => {
    const row = await store.newestHours(tx)
    return row ?? { id: await store.insertHours(tx, usualHours), hours: usualHours }
  }
  const withinOf = (hours: ServiceHours, priority: TicketPriority) => ({
    answer_ms: hours.within[priority].answer * 60_000,
    solve_ms: hours.within[priority].solve * 60_000,
  })

  /** Tells one person within the console, and by mail where they gave an address. */
  const tellOne = async (tx: Tx, userId: string, row: TicketRow, kind: Telling['kind'] & `ticket.${string}`, text: string, byMail: boolean): Promise<void> => {
    const key = uuidv7()
    const about = { kind: row.created_by === userId ? ('ticket.ticket' as const) : ('ticket.desk' as const), id: row.id, name: numberOf(row) }
    await tell(tx, { kind, bp_id: null, user_id: userId, text, about, key })
    if (byMail) await jobs.send(tx, mailJob, { user_id: userId, text })
  }
  const tellAsker = (tx: Tx, row: TicketRow, text: string) => tellOne(tx, row.created_by, row, 'ticket.said', text, true)
  /** Whose it is, else those who may take it. */
  const tellStaff = async (tx: Tx, row: TicketRow, text: string, but: string | null = null): Promise<void> => {
    const people = row.assignee_id !== null ? [row.assignee_id] : row.group_id !== null ? await store.membersOf(tx, row.group_id) : await store.keepers(tx)
    for (const id of people) if (id !== but && id !== row.created_by) await tellOne(tx, id, row, 'ticket.came', text, false)
  }

  /** Does it, says so, and counts the time. The caller holds the row. */
  const step = async (tx: Tx, row: TicketRow, by: By | null, { kind, text = '', internal = false, files = [], ...to }: Step): Promise<TicketRow> => {
    const at = now()
    const status = to.status ?? row.status
    const priority = to.priority ?? row.priority
    const hours = await store.hoursOf(tx, row.hours_id)
    const isOver = store.isOver(status)
    const time = timed(hours, row, at, {
      runs: ticketRunning.includes(status),
      answered: to.answers === true,
      within: to.priority === undefined ? undefined : withinOf(hours, priority),
    })
    const changes = {
      ...to.changes,
      ...time,
      status,
      priority,
      // So that it is told again where it becomes late again.
      ...(to.priority !== undefined && { escalated_at: null, solve_escalated_at: null }),
      ...(row.answered_at === null && time.answered_at !== null && { answered_ms: time.used_ms }),
      confirm_by: status === 'confirming' ? (row.status === 'confirming' ? row.confirm_by : new Date(at.getTime() + ticketConfirmDays * dayMs)) : null,
      ...(isOver && row.ended_at === null && { ended_at: at, secret: null }),
      updated_at: at,
    }
    await store.updateTicket(tx, row.id, changes)
    const id = uuidv7()
    await store.insertEntry(tx, {
      id,
      ticket_id: row.id,
      kind,
      staff: by?.staff ?? null,
      by_id: by?.id ?? null,
      by_name: by?.name ?? '',
      text,
      internal,
      status,
      priority,
      at,
    })
    if (files.length > 0 && (by === null || (await store.takeFiles(tx, by.id, files, { ticket_id: row.id, entry_id: id })) !== new Set(files).size))
      throw new Refusal('ticketFileUnknown', { field: 'upload_ids' })
    // Whoever wrote last has read what came before.
    if (by !== null) await store.noteRead(tx, { ticket_id: row.id, user_id: by.id, at })
    return { ...row, ...changes }
  }

  const shape = (row: ShownTicket, at: Date): Ticket => {
    const dues = [row.answer_due_at, row.solve_due_at].filter((due) => due !== null)
    return {
      id: row.id,
      number: numberOf(row),
      title: row.title,
      type: row.type,
      status: row.status,
      priority: row.priority,
      about: row.about_kind === null || row.about_id === null ? null : { kind: row.about_kind, id: row.about_id, name: row.about_name ?? '' },
      bp_id: row.bp_id,
      bp_name: row.bp_name,
      created_by: row.created_by_name,
      assignee: row.assignee_name,
      group: row.group_id === null ? null : { id: row.group_id, name: row.group_name ?? '' },
      unread: row.unread,
      answer_due_at: isoOrNull(row.answer_due_at),
      solve_due_at: isoOrNull(row.solve_due_at),
      late: row.ended_at === null && (dues.some((due) => due < at) || row.used_ms > row.solve_ms),
      score: row.score,
      urged_at: isoOrNull(row.urged_at),
      answered_at: isoOrNull(row.answered_at),
      ended_at: isoOrNull(row.ended_at),
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
    }
  }
  /** @param asker null: as those see it who answer */
  const detailed = async (actor: Actor, asker: store.Asker | null, id: string): Promise<TicketDetail> => {
    const row = found(await store.oneShown(db, actor.user_id, asker, id))
    const entries = await store.entriesOf(db, id, asker === null)
    const files = await store.filesOf(db, id)
    return {
      ...shape(row, now()),
      entries: entries.map((entry) => ({
        id: entry.id,
        kind: entry.kind,
        staff: entry.staff,
        by: entry.by_name,
        text: entry.text,
        internal: entry.internal,
        files: files.filter(({ entry_id }) => entry_id === entry.id).map((file) => ({ id: file.id, name: file.name, size_bytes: file.size_bytes })),
        at: iso(entry.at),
      })),
      has_secret: row.secret !== null,
      mine: asker !== null,
      rating: row.rating,
    }
  }
  /** Changes one's own, and answers with it. */
  const own = async (
    actor: Actor,
    id: string,
    action: keyof typeof ticketCan,
    run: (tx: Tx, row: TicketRow, by: By) => Promise<void>,
  ): Promise<TicketDetail> => {
    const asker = store.askerOf(actor)
    await db.transaction().execute(async (tx) => {
      const row = found(await store.lockTicket(tx, asker, id))
      refuseUnless(ticketCan[action], row)
      // To take it back or to confirm it has to be possible.
      if (action === 'reply' && (await store.countEntries(tx, id)) >= ticketEntriesMost)
        throw new Refusal('ticketEntriesTooMany', { values: { limit: ticketEntriesMost } })
      await run(tx, row, byOf(actor, false))
    })
    return detailed(actor, asker, id)
  }
  /** The same of those who answer. */
  const desk = async (
    actor: Actor,
    id: string,
    action: keyof typeof ticketCan,
    run: (tx: Tx, row: TicketRow, by: By) => Promise<void>,
  ): Promise<TicketDetail> => {
    await db.transaction().execute(async (tx) => {
      const row = found(await store.lockTicket(tx, null, id))
      refuseUnless(ticketCan[action], row)
      await run(tx, row, byOf(actor, true))
    })
    return detailed(actor, null, id)
  }
  const sealed = (id: string, secret: string | undefined): Partial<TicketRow> =>
    secret === undefined || secret === '' ? {} : { secret: secrets.seal(secret, secretPlace(id)) }

  const nameSeen = async (parts: KindParts | undefined, actor: Actor, id: string): Promise<string | undefined> => {
    if (parts?.seen !== undefined) return parts.seen(db, actor, id)
    return parts?.table === undefined ? undefined : store.nameSeen(db, parts.table, parts.name ?? 'name', id, actor.bp_id, isPlatformKind(actor.kind))
  }
  /** What a work order is about, as far as who opens it sees that. @throws Refusal ticketAboutUnknown */
  const aboutOf = async (actor: Actor, { kind, id }: { kind: Kind; id: string }) => {
    const parts: KindParts | undefined = platform.kinds().get(kind)
    const name = await nameSeen(parts, actor, id)
    if (name === undefined) throw new Refusal('ticketAboutUnknown', { field: 'about' })
    return { about_kind: kind, about_id: id, about_name: name }
  }

  bytes.receive(taker, {
    take: async (tx: Tx, upload: UploadRow, content) =>
      store.insertFile(tx, { id: upload.id, ticket_id: null, entry_id: null, user_id: upload.user_id, name: wish.parse(upload.wish).name, ...content }),
    ended: async () => undefined,
  })
  const downloadKind = 'ticket.file'
  downloads.offer(downloadKind, async (id) => {
    const file = await store.fileOf(db, id)
    if (file === undefined) return null
    // Saved and never opened: whatever it is, it runs nowhere.
    return { name: file.name, size: file.size_bytes, etag: file.sha256, open: (range) => bytes.read(file.sha256, range) }
  })

  /** What the clock does: tells of what is late, and ends what nobody confirmed. */
  const tick = async (): Promise<void> => {
    await db.transaction().execute(async (tx) => {
      for (const row of await store.lateUntold(tx, now())) {
        const at = now()
        const isLate = (due: Date | null): boolean => due !== null && due < at
        await step(tx, row, null, {
          kind: 'escalated',
          internal: true,
          changes: { ...(isLate(row.answer_due_at) && { escalated_at: at }), ...(isLate(row.solve_due_at) && { solve_escalated_at: at }) },
        })
        const people = new Set([...(row.assignee_id === null ? [] : [row.assignee_id]), ...(await store.keepers(tx))])
        for (const id of people) await tellOne(tx, id, row, 'ticket.late', ticketTexts.late(numberOf(row), row.title), true)
      }
      for (const row of await store.unconfirmed(tx, now())) await step(tx, row, null, { kind: 'confirmed', status: 'done' })
    })
  }

  return {
    jobs: [clockJob, mailJob, filesJob],
    jobHandlers: [
      handleJob(clockJob, tick),
      handleJob(filesJob, () =>
        db.transaction().execute(async (tx) => {
          await bytes.release(tx, await store.dropWaitingFiles(tx, new Date(now().getTime() - dayMs)))
        }),
      ),
      handleJob(mailJob, async ({ user_id, text }) => {
        const address = await store.addressOf(db, user_id)
        if (address !== null) await mail.send({ channel: 'email', address, purpose: 'ticket', text: mail.signed(text) })
      }),
    ],
    tick,

    list: (actor: Actor, query: QueryOf<Own['list']>) => {
      const at = now()
      return shapedPage(store.listOwn(db, store.askerOf(actor), query), (row) => shape(row, at))
    },
    get: (actor: Actor, id: string) => detailed(actor, store.askerOf(actor), id),

    async create(actor: Actor, { title, type, priority, text, about, secret, upload_ids }: BodyOf<Own['create']>): Promise<Ticket> {
      const id = uuidv7()
      const linked = about === undefined ? { about_kind: null, about_id: null, about_name: null } : await aboutOf(actor, about)
      await db.transaction().execute(async (tx) => {
        if ((await store.countOpen(tx, actor.user_id)) >= openMost) throw new Refusal('ticketsTooMany', { values: { limit: openMost } })
        const { id: hours_id, hours } = await hoursNow(tx)
        const at = now()
        const time = { ...withinOf(hours, priority), used_ms: 0, running_since: at, answered_at: null }
        const row = {
          id,
          title,
          type,
          priority,
          status: 'open' as const,
          ...linked,
          bp_id: actor.bp_id,
          created_by: actor.user_id,
          created_by_name: actor.name,
          assignee_id: null,
          assignee_name: null,
          group_id: await store.groupFor(tx, type),
          hours_id,
          ...time,
          ...dueOf(hours, time),
          answered_ms: null,
          resolved_by: null,
          escalated_at: null,
          solve_escalated_at: null,
          urged_at: null,
          secret: null,
          confirm_by: null,
          score: null,
          ended_at: null,
          created_at: at,
          updated_at: at,
        }
        await store.insertTicket(tx, row)
        const made = found(await store.lockTicket(tx, null, id))
        await step(tx, made, byOf(actor, false), { kind: 'created', text, files: upload_ids, changes: sealed(id, secret) })
        await tellStaff(tx, made, ticketTexts.opened(numberOf(made), title))
      })
      return shape(found(await store.oneShown(db, actor.user_id, store.askerOf(actor), id)), now())
    },

    reply: (actor: Actor, id: string, { text, secret, upload_ids }: BodyOf<Own['reply']>) =>
      own(actor, id, 'reply', async (tx, row, by) => {
        // Who was asked has said it; who says more of what counts as solved wants it gone on with.
        const status = row.status === 'asking' || row.status === 'confirming' ? 'working' : row.status
        const after = await step(tx, row, by, { kind: 'text', text, files: upload_ids, status, changes: sealed(id, secret) })
        await tellStaff(tx, after, ticketTexts.said(numberOf(row), row.title, by.name))
      }),
    confirm: (actor: Actor, id: string) =>
      own(actor, id, 'confirm', async (tx, row, by) => {
        await step(tx, row, by, { kind: 'confirmed', status: 'done' })
      }),
    reopen: (actor: Actor, id: string, reason: string) =>
      own(actor, id, 'reopen', async (tx, row, by) => {
        const after = await step(tx, row, by, {
          kind: 'reopened',
          text: reason,
          status: 'working',
          // It was thought to be solved: that it is late is news again.
          changes: { solve_escalated_at: null },
        })
        await tellStaff(tx, after, ticketTexts.reopened(numberOf(row), row.title, by.name))
      }),
    withdraw: (actor: Actor, id: string) =>
      own(actor, id, 'withdraw', async (tx, row, by) => {
        await step(tx, row, by, { kind: 'withdrawn', status: 'withdrawn' })
      }),
    urge: (actor: Actor, id: string) =>
      own(actor, id, 'urge', async (tx, row, by) => {
        const left = row.urged_at === null ? 0 : row.urged_at.getTime() + ticketUrgeMinutes * 60_000 - now().getTime()
        if (left > 0) throw new Refusal('ticketUrgedJustNow', { values: { minutes: Math.ceil(left / 60_000) } })
        const after = await step(tx, row, by, { kind: 'urged', changes: { urged_at: now() } })
        await tellStaff(tx, after, ticketTexts.urged(numberOf(row), row.title, by.name))
      }),
    rate: (actor: Actor, id: string, { score, text }: BodyOf<Own['rate']>) =>
      own(actor, id, 'rate', async (tx, row, by) => {
        if (row.score !== null || row.ended_at === null || now().getTime() - row.ended_at.getTime() > ticketRateDays * dayMs)
          throw new Refusal('ticketRatedOrTooLate', { values: { days: ticketRateDays } })
        await step(tx, row, by, { kind: 'rated', text, changes: { score, rating: text } })
      }),
    /** Of one's own, or of one that one answers. */
    async read(actor: Actor, id: string): Promise<void> {
      const row =
        (await store.oneShown(db, actor.user_id, store.askerOf(actor), id)) ?? (answers(actor) ? await store.oneShown(db, actor.user_id, null, id) : undefined)
      await store.noteRead(db, { ticket_id: found(row).id, user_id: actor.user_id, at: now() })
    },

    async announce(actor: Actor, { name, size_bytes }: BodyOf<Own['upload']>): Promise<ResponseOf<Own['upload']>> {
      const id = await db.transaction().execute(async (tx) => {
        if (
          (await bytes.uploadsOf(tx, taker, actor.user_id)).length + (await store.countWaitingFiles(tx, actor.user_id)) >= waitingFilesMost ||
          (await store.bytesSince(tx, actor.user_id, new Date(now().getTime() - dayMs))) + size_bytes > dayBytesMost
        )
          throw new Refusal('ticketFilesTooMany', { values: { limit: waitingFilesMost } })
        // The platform keeps them: an organisation whose room is used up has to be able to say so.
        return bytes.announce(tx, { taker, bp_id: null, project_id: null, user_id: actor.user_id, size_bytes, sha256: null, wish: { name }, keptMs: dayMs })
      })
      return { id, upload_path: ticketUploadPath(id) }
    },
    upload: async (actor: Actor, id: string): Promise<UploadRow> => {
      const upload = await bytes.upload(db, id)
      return found(upload?.taker === taker && upload.user_id === actor.user_id ? upload : undefined)
    },
    async download(actor: Actor, id: string, fileId: string): Promise<ExportLink> {
      const asker = store.askerOf(actor)
      const isOwn = (await store.oneShown(db, actor.user_id, asker, id)) !== undefined
      if (!isOwn && !answers(actor)) throw new Refusal('notFound')
      const file = found(await store.fileOf(db, fileId))
      // What those said among themselves who answer is not for who asked.
      const visible = (await store.entriesOf(db, id, !isOwn || answers(actor))).some((entry) => entry.id === file.entry_id)
      if (file.ticket_id !== id || !visible) throw new Refusal('notFound')
      return downloads.link(downloadKind, fileId, actor)
    },

    deskList: (actor: Actor, query: QueryOf<Desk['list']>) => {
      const at = now()
      return shapedPage(store.listDesk(db, actor.user_id, query, at), (row) => shape(row, at))
    },
    deskGet: (actor: Actor, id: string) => detailed(actor, null, id),
    claim: (actor: Actor, id: string) =>
      desk(actor, id, 'claim', async (tx, row, by) => {
        if (row.assignee_id !== null && row.assignee_id !== by.id) throw new Refusal('ticketTaken', { values: { name: row.assignee_name ?? '' } })
        await step(tx, row, by, { kind: 'claimed', status: 'working', changes: { assignee_id: by.id, assignee_name: by.name } })
      }),
    assign: (actor: Actor, id: string, { to, text }: BodyOf<Desk['assign']>) =>
      desk(actor, id, 'assign', async (tx, row, by) => {
        const person = to.kind === 'person' ? await store.answerer(tx, to.id) : undefined
        const group = to.kind === 'group' ? await store.getGroup(tx, to.id) : undefined
        if (person === undefined && group === undefined) throw new Refusal('ticketAssigneeUnknown', { field: 'to' })
        const name = person?.name ?? group?.name ?? ''
        const after = await step(tx, row, by, {
          kind: 'assigned',
          text: text === '' ? name : `${name}：${text}`,
          internal: true,
          status: row.status === 'open' && person !== undefined ? 'working' : row.status,
          changes:
            person === undefined
              ? { assignee_id: null, assignee_name: null, group_id: group?.id ?? null }
              : { assignee_id: person.id, assignee_name: person.name },
        })
        await tellStaff(tx, after, ticketTexts.came(numberOf(row), row.title), by.id)
      }),
    answer: (actor: Actor, id: string, { text, next, upload_ids }: BodyOf<Desk['answer']>) =>
      desk(actor, id, 'answer', async (tx, row, by) => {
        const isReviewed = next === 'resolve' && ticketReviewed.includes(row.type)
        const taken = row.assignee_id === null ? { assignee_id: by.id, assignee_name: by.name } : {}
        const status = next === 'ask' ? 'asking' : isReviewed ? 'reviewing' : next === 'resolve' ? 'confirming' : row.status === 'open' ? 'working' : row.status
        const after = await step(tx, row, by, {
          kind: next === 'ask' ? 'asked' : next === 'resolve' ? 'resolved' : 'text',
          text,
          // It goes out when a reviewer has seen it.
          internal: isReviewed,
          answers: !isReviewed,
          status,
          files: upload_ids,
          changes: { ...taken, ...(isReviewed && { resolved_by: by.id }) },
        })
        const [number, { title }] = [numberOf(row), row]
        if (isReviewed)
          for (const keeper of await store.reviewers(tx)) await tellOne(tx, keeper, after, 'ticket.came', ticketTexts.toReview(number, title), false)
        else
          await tellAsker(
            tx,
            after,
            next === 'ask'
              ? ticketTexts.asked(number, title)
              : next === 'resolve'
                ? ticketTexts.resolved(number, title, ticketConfirmDays)
                : ticketTexts.answered(number, title),
          )
      }),
    note: (actor: Actor, id: string, { text, upload_ids }: BodyOf<Desk['note']>) =>
      desk(actor, id, 'note', async (tx, row, by) => {
        await step(tx, row, by, { kind: 'note', text, internal: true, files: upload_ids })
      }),
    review: (actor: Actor, id: string, body: BodyOf<Desk['review']>) =>
      desk(actor, id, 'review', async (tx, row, by) => {
        if (row.resolved_by === by.id) throw new Refusal('ticketOwnReview')
        if (body.accept) {
          await store.publishResolution(tx, id)
          const after = await step(tx, row, by, { kind: 'accepted', internal: true, status: 'confirming', answers: true, changes: { resolved_by: null } })
          await tellAsker(tx, after, ticketTexts.resolved(numberOf(row), row.title, ticketConfirmDays))
        } else {
          const after = await step(tx, row, by, { kind: 'refused', text: body.reason, internal: true, status: 'working', changes: { resolved_by: null } })
          await tellStaff(tx, after, ticketTexts.refused(numberOf(row), row.title), by.id)
        }
      }),
    prioritise: (actor: Actor, id: string, priority: TicketPriority) =>
      desk(actor, id, 'prioritise', async (tx, row, by) => {
        await step(tx, row, by, { kind: 'prioritised', internal: true, priority })
      }),
    retype: (actor: Actor, id: string, type: TicketType) =>
      desk(actor, id, 'retype', async (tx, row, by) => {
        if (ticketReviewed.includes(row.type) && !ticketReviewed.includes(type) && !mayAccess(ticketReviewers, actor)) throw new Refusal('ticketTypeReviewed')
        await step(tx, row, by, { kind: 'retyped', changes: { type } })
      }),
    async reveal(actor: Actor, id: string): Promise<{ secret: string }> {
      return db.transaction().execute(async (tx) => {
        const row = found(await store.lockTicket(tx, null, id))
        if (row.secret === null) throw new Refusal('ticketSecretNone')
        // Who sent it sees who has read it.
        await step(tx, row, byOf(actor, true), { kind: 'revealed' })
        return { secret: secrets.open(row.secret, secretPlace(id)) }
      })
    },
    async figures(days: number): Promise<ResponseOf<Desk['figures']>> {
      const at = now()
      // Whole days of Beijing, today among them.
      const today = Math.floor((at.getTime() + 8 * 3_600_000) / dayMs)
      return found(await store.figures(db, new Date((today - days + 1) * dayMs - 8 * 3_600_000), at))
    },
    staff: async () => ({ items: await store.staff(db) }),

    async hours(): Promise<ServiceHours> {
      return (await store.newestHours(db))?.hours ?? usualHours
    },
    async setHours(hours: ServiceHours): Promise<ServiceHours> {
      await store.insertHours(db, hours)
      return hours
    },
  }

  function answers(actor: Actor): boolean {
    return mayAccess(ticketStaff, actor)
  }
}
