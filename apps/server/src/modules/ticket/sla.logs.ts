import { randomUUID } from 'node:crypto'
import type { ServiceHours } from '@zhisuan/contract/ticket/desk'
import { ticketCan, ticketPriorities, ticketReviewed, ticketRunning, ticketTypes, type TicketPriority } from '@zhisuan/contract/ticket/ticket'
import { sql } from 'kysely'
import type { Actor } from '../../platform/auth/actor.ts'
import { readConfig } from '../../platform/config.ts'
import { Refusal } from '../../platform/errors.ts'
import { createLog } from '../../platform/log.ts'
import { openPlatform, type Platform } from '../../platform/platform.ts'
import { someActor } from '../../testing/actor.ts'
import { freshDatabase } from '../../testing/database.ts'
import { usualHours } from './hours.ts'
import type { EntryRow, TicketRow } from './ticket.store.ts'
import { createTickets, type TicketBytes } from './ticket.service.ts'

const quarterMs = 900_000
/** Where logs begin: before the holidays of October, whose weekends are worked. */
const begin = Date.parse('2026-09-28T00:00:00+08:00')
/** Longer than any of them. */
const quarters = 200 * 96

const never = async (): Promise<never> => {
  throw new Error('no files come here')
}
const nobodySends: TicketBytes = { receive: () => undefined, announce: never, upload: never, uploadsOf: never, read: never, release: async () => undefined }

/** Which quarters of an hour are worked, counted from {@link begin}. */
function worked({ from, to, weekdays, holidays, workdays }: ServiceHours): boolean[] {
  return Array.from({ length: quarters }, (_, index) => {
    const text = new Date(begin + index * quarterMs + 8 * 3_600_000).toISOString()
    const [day, clock] = [text.slice(0, 10), text.slice(11, 16)]
    const weekday = ((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7) + 1
    return (workdays.includes(day) || (!holidays.includes(day) && weekdays.includes(weekday))) && clock >= from && clock < to
  })
}

type Stored = Pick<TicketRow, 'used_ms' | 'running_since' | 'answered_at' | 'answered_ms' | 'answer_due_at' | 'solve_due_at'>

/** All that is stored of a work order's time, from what its log says and nothing else, a quarter of an hour after the other. */
function recomputed(entries: readonly EntryRow[], type: TicketRow['type'], within: ServiceHours['within'], works: readonly boolean[]): Stored {
  let [used, runs, next]: [number, boolean, number] = [0, false, 0]
  let [answered_at, answered_ms]: [Date | null, number | null] = [null, null]
  let allowed = within[entries[0]?.priority ?? 'normal']
  const due: { answer: Date | null; solve: Date | null } = { answer: null, solve: null }
  for (let quarter = Math.round(((entries[0]?.at.getTime() ?? 0) - begin) / quarterMs); quarter < quarters; quarter++) {
    const moment = begin + quarter * quarterMs
    for (let entry = entries[next]; entry !== undefined && entry.at.getTime() === moment; entry = entries[++next]) {
      runs = ticketRunning.includes(entry.status)
      if (entry.kind === 'prioritised') allowed = within[entry.priority]
      // What a reviewer looks at answers nobody before it is let out.
      const isAnswer =
        entry.kind === 'accepted' ||
        (entry.staff === true && (entry.kind === 'text' || entry.kind === 'asked' || (entry.kind === 'resolved' && !ticketReviewed.includes(type))))
      if (isAnswer && answered_at === null) [answered_at, answered_ms] = [entry.at, used]
    }
    if (next >= entries.length) {
      // Nothing happens any more: it is due when what is allowed has gone by, at once where it has.
      if (runs && due.solve === null && used >= allowed.solve * 60_000) due.solve = new Date(moment)
      if (runs && answered_at === null && due.answer === null && used >= allowed.answer * 60_000) due.answer = new Date(moment)
      if (!runs || (due.solve !== null && (answered_at !== null || due.answer !== null))) break
    }
    if (runs && works[quarter] === true) used += quarterMs
  }
  const last = entries.at(-1)?.at ?? null
  return { used_ms: usedUntil(entries, works), running_since: runs ? last : null, answered_at, answered_ms, answer_due_at: due.answer, solve_due_at: due.solve }
}
/** Until the last of what happened. */
function usedUntil(entries: readonly EntryRow[], works: readonly boolean[]): number {
  let used = 0
  for (const [index, entry] of entries.entries()) {
    const next = entries[index + 1]
    if (next === undefined || !ticketRunning.includes(entry.status)) continue
    for (let at = entry.at.getTime(); at < next.at.getTime(); at += quarterMs) if (works[Math.round((at - begin) / quarterMs)] === true) used += quarterMs
  }
  return used
}

/** A platform of which nothing runs by itself: the clock of a server would look at these work orders, too. */
export async function quietly<T>(act: (platform: Platform) => Promise<T>): Promise<T> {
  const { url, drop } = await freshDatabase()
  const platform = await openPlatform(readConfig({ ZHISUAN_ENV: 'test', DATABASE_URL: url, DATABASE_POOL_SIZE: '6' }), createLog({ LOG_LEVEL: 'silent' }))
  try {
    return await act(platform)
  } finally {
    await platform.close()
    await drop()
  }
}

/**
 * Work orders that random things happen to, by what the server does with them, and then what is stored of each beside what its log says.
 * @param ticks whether the clock does its own work in between, which looks at all there are
 * @throws Error where they differ
 */
export async function checkLogs(
  platform: Platform,
  { count, seed, ticks }: { count: number; seed: number; ticks: boolean },
): Promise<{ entries: number; late: number; answered: number }> {
  let state = seed >>> 0
  const random = (below: number): number => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
  const one = <T>(of: readonly [T, ...T[]]): T => of[random(of.length)] ?? of[0]
  let clock = begin
  const { db } = platform
  const service = createTickets(
    {
      ...platform,
      now: () => new Date(clock),
      downloads: { offer: () => undefined, link: () => ({ path: '', expires_at: '' }), hold: () => undefined },
      jobs: { ...platform.jobs, send: async () => undefined },
    },
    { bytes: nobodySends, tell: async () => undefined, mail: { signed: (text) => text, send: () => null } },
  )
  const person = async (): Promise<Actor> => {
    const id = randomUUID()
    await sql`insert into users (id, name, kind, status, password_hash) values (${id}, ${id}, 4, 'active', '')`.execute(db)
    await sql`insert into user_roles (user_id, role) values (${id}, 'COPOTE_ADMIN')`.execute(db)
    return someActor({ user_id: id, name: id, bp_id: null })
  }
  const [asker, first, other] = [await person(), await person(), await person()]
  const kinds: readonly ServiceHours[] = [
    usualHours,
    { ...usualHours, from: '08:30', to: '20:00', weekdays: [1, 2, 3, 4, 5, 6] },
    { ...usualHours, from: '00:00', to: '24:00', weekdays: [1, 2, 3, 4, 5, 6, 7], holidays: [], workdays: [] },
  ]
  const seen = { entries: 0, late: 0, answered: 0 }
  const working = new Map<string, boolean[]>()
  for (let round = 0; round < count; round++) {
    clock = begin + random(21 * 96) * quarterMs
    if (round % 50 === 0) await service.setHours(kinds[random(kinds.length)] ?? usualHours)
    const priority = (): TicketPriority => one(ticketPriorities)
    const { id } = await service.create(asker, { title: 'x', type: one(ticketTypes), priority: priority(), text: 'x', upload_ids: [] })
    const acts: Partial<Record<keyof typeof ticketCan, () => Promise<unknown>>> = {
      claim: () => service.claim(one([first, other]), id),
      assign: () => service.assign(first, id, { to: { kind: 'person', id: one([first, other]).user_id }, text: '' }),
      answer: () => service.answer(one([first, other]), id, { text: 'x', next: one(['stay', 'ask', 'resolve']), upload_ids: [] }),
      note: () => service.note(first, id, { text: 'x', upload_ids: [] }),
      review: () => service.review(one([first, other]), id, random(2) === 0 ? { accept: true } : { accept: false, reason: 'x' }),
      prioritise: () => service.prioritise(first, id, priority()),
      reply: () => service.reply(asker, id, { text: 'x', upload_ids: [] }),
      reopen: () => service.reopen(asker, id, 'x'),
      urge: () => service.urge(asker, id),
      confirm: () => service.confirm(asker, id),
      ...(random(6) === 0 && { withdraw: () => service.withdraw(asker, id) }),
    }
    const read = () => db.selectFrom('tickets').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    for (let left = random(8); left > 0; left--) {
      clock += (1 + random(random(3) === 0 ? 400 : 30)) * quarterMs
      if (ticks && random(4) === 0) {
        await service.tick()
        clock += quarterMs
      }
      const { status } = await read()
      const possible = Object.entries(acts).filter(([action]) => (ticketCan[action as keyof typeof ticketCan] as readonly string[]).includes(status))
      await possible[random(possible.length)]?.[1]().catch((error: unknown) => {
        // What is refused did not happen.
        if (!(error instanceof Refusal)) throw error
      })
    }
    const row = await read()
    const entries = await db.selectFrom('ticket_entries').selectAll().where('ticket_id', '=', id).orderBy('at').orderBy('id').execute()
    const { hours } = await db.selectFrom('ticket_hours').select('hours').where('id', '=', row.hours_id).executeTakeFirstOrThrow()
    const key = JSON.stringify(hours)
    const works = working.get(key) ?? worked(hours)
    working.set(key, works)
    const stored = ({ used_ms, running_since, answered_at, answered_ms, answer_due_at, solve_due_at }: Stored): string =>
      JSON.stringify({ used_ms, running_since, answered_at, answered_ms, answer_due_at, solve_due_at })
    const [is, said] = [stored(row), stored(recomputed(entries, row.type, hours.within, works))]
    if (is !== said)
      throw new Error(
        `seed ${seed}, round ${round}: ${is} is stored, and its log says ${said}: ${entries.map(({ kind, at }) => `${kind} ${at.toISOString()}`).join(', ')}`,
      )
    seen.entries += entries.length
    seen.late += row.used_ms > row.solve_ms ? 1 : 0
    seen.answered += row.answered_at === null ? 0 : 1
    // Nobody has more than some open at a time; and the clock has nothing more to do with it.
    await sql`update tickets set ended_at = now(), secret = null, status = 'withdrawn' where id = ${id}`.execute(db)
  }
  return seen
}
