import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { payoutCan, type splitPayouts, type SplitBalance, type SplitPayout } from '@zhisuan/contract/split/payout'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import { AddressForbidden, ProviderUnreachable } from '../../../platform/outbound/provider.ts'
import type { Platform } from '../../../platform/platform.ts'
import { UnreadableError } from '../../../platform/secrets.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import type { BankService, Prove } from '../bank/bank.service.ts'
import { currentBank } from '../bank/bank.store.ts'
import { balancesOf, post, providerParty, type MovementKind, type SplitAccount } from '../ledger/movements.ts'
import type { TellKeepers } from '../keeper.tell.ts'
import type { TellProvider } from '../provider.tell.ts'
import { scopeFor, sees } from '../scope.ts'
import { getProvider, updateRun } from '../split.store.ts'
import { mostAgeMs, PayoutRejected, type PayoutAnswer } from './channel.client.ts'
import type { OpenChannel, PayoutChannels } from './channel.service.ts'
import { dayOf } from '../reconciliation/differences.ts'
import { dueAgain } from '../reconciliation/reconciliation.store.ts'
import * as store from './payout.store.ts'
import type { PayoutRow, ShownPayout } from './payout.store.ts'
import { payoutTexts as texts } from './payout.texts.ts'

type Calls = typeof splitPayouts

/** What banks pay at the least: less of what is owed stays owed. */
export const fen = 1_000_000n
const atOnce = 100
const aloneMs = 7 * 86_400_000
/** So long the limit that was lower before still counts. */
const raisedMs = 86_400_000
/** The channel tells by itself what became of a payout; who says nothing for so long is asked. */
const asking = { youngestMs: 60_000, many: atOnce }
/** Banks pay within a day that they work on; what has not ended after a weekend and a day is for people to look at. */
export const stuckMs = 3 * 86_400_000
/** What the channel refuses or never takes is not sent for ever, and nothing of it is on its way any more when people decide over it. */
const resentMs = stuckMs - 3_600_000

export const payoutJob = defineJob({ name: 'split.payout', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** What went wrong between the channel and us, and says nothing about the payment. */
export const isChannelTrouble = (error: unknown): error is Error =>
  error instanceof PayoutRejected || error instanceof AddressForbidden || error instanceof ProviderUnreachable

export type PayoutService = ReturnType<typeof createPayouts>

/** Pays providers what they are owed: claimed and committed before anything is sent, under one key each. */
export function createPayouts(
  { db, jobs, log, now }: Pick<Platform, 'db' | 'log' | 'now'> & { jobs: Pick<Platform['jobs'], 'send'> },
  {
    banks,
    channels,
    settings,
    prove,
    tellProvider,
    tellKeepers,
  }: {
    banks: Pick<BankService, 'open'>
    channels: Pick<PayoutChannels, 'client' | 'all' | 'enabled' | 'sending'>
    settings: Pick<Settings, 'get' | 'since'>
    prove: Prove
    tellProvider: TellProvider
    tellKeepers: TellKeepers
  },
) {
  const limits = async () => {
    const [least, most, ...approvedAbove] = await Promise.all([
      settings.get('split_payout_least'),
      settings.get('split_payout_most'),
      settings.get('split_payout_approved_above'),
    ])
    // Who raises it does not use that at once: others hear of it, and a day is theirs to say no.
    const lately = await settings.since('split_payout_approved_above', new Date(now().getTime() - raisedMs))
    const above = [...approvedAbove, ...lately].map(toMinor).reduce((one, other) => (one < other ? one : other))
    return { least: toMinor(least), most: toMinor(most), approvedAbove: above }
  }
  const shape = (row: ShownPayout): SplitPayout => ({
    id: row.id,
    provider: { id: row.provider_id, name: row.provider_name },
    amount: toDecimal(BigInt(row.amount)),
    status: row.status,
    needs_approval: row.status === 'asked' && row.four_eyes && row.approved_by === null,
    approved_by: row.approved_by_name,
    account: row.account === null ? null : `${row.bank ?? ''} ${row.account}`,
    reference: row.reference,
    reason: row.reason,
    asked_by: row.asked_by_name,
    created_at: iso(row.created_at),
    claimed_at: isoOrNull(row.claimed_at),
    sent_at: isoOrNull(row.sent_at),
    done_at: isoOrNull(row.done_at),
    ended_at: isoOrNull(row.ended_at),
    runs: row.runs.map(({ amount, ...run }) => ({ ...run, amount: toDecimal(BigInt(amount)) })),
  })
  const get = async (actor: Actor, id: string): Promise<SplitPayout> => shape(found(await store.getPayout(db, await scopeFor(db, actor), id)))

  const moved = (tx: Tx, row: PayoutRow, kind: MovementKind, [from, to]: readonly [SplitAccount, SplitAccount], about: { note?: string; by?: string } = {}) =>
    post(
      tx,
      {
        provider_id: row.provider_id,
        kind,
        key: `${kind} ${row.id}${row.corrected === 0 ? '' : ` ${row.corrected}`}`,
        run_id: null,
        note: about.note ?? '',
        by: about.by ?? '',
      },
      [
        { account: from, amount: -BigInt(row.amount), party: providerParty },
        { account: to, amount: BigInt(row.amount), party: providerParty },
      ],
    )
  const told = async (tx: Tx, row: PayoutRow, text: (name: string) => string, alsoKeepers: boolean): Promise<void> => {
    const name = (await getProvider(tx, row.provider_id))?.name ?? ''
    const about = { kind: 'split.payout' as const, id: row.id, name }
    await tellProvider(tx, row.provider_id, { kind: 'split.payout', text, about: () => about })
    if (alsoKeepers) await tellKeepers(tx, { kind: 'split.payout', text: text(name), about })
  }
  /** Statements follow from what was paid of them: paid where everybody has theirs, down to less than a fen. The caller holds what is owed. */
  const settleRuns = async (tx: Tx, row: PayoutRow, by: { at: Date; name: string; reference: string; runs?: readonly string[] }): Promise<void> => {
    for (const run of await store.openRuns(tx, row.provider_id, by.runs ?? (await store.runsOfPayout(tx, row.id)))) {
      const [, provider = 0n, ...agents] = run.open
      const isPaid = run.asked === 0n && abs(provider) < fen && agents.every((open) => open === 0n)
      if (isPaid && run.status === 'confirmed') await updateRun(tx, run.id, { status: 'paid', paid_at: by.at, paid_by: by.name, paid_reference: by.reference })
      else if (!isPaid && run.status === 'paid') await updateRun(tx, run.id, { status: 'confirmed', paid_at: null, paid_by: null, paid_reference: null })
    }
  }

  /** Brings a payout to what the channel says of it. @throws PayoutRejected, and nothing has changed */
  const settle = async (answer: PayoutAnswer, { channel_id }: Pick<OpenChannel, 'channel_id'>, nonce?: string): Promise<void> => {
    await refusing({ split_payouts_reference: (cause) => new PayoutRejected('the payment is of another payout', { cause }) }, () =>
      db.transaction().execute(async (tx) => {
        // Signed anew each time that it is sent: the same once more is somebody else's copy.
        if (nonce !== undefined && !(await store.rememberNonce(tx, nonce, now()))) throw new PayoutRejected('a message that came before')
        const before = await store.lockPayoutOf(tx, answer.payout_id)
        if (before === undefined) throw new PayoutRejected('no such payout')
        if ((before.channel_id ?? channel_id) !== channel_id) throw new PayoutRejected('a payout of another channel')
        const { status, reference, reason, at } = answer
        if (status === 'unknown') return
        if (String(answer.amount) !== before.amount) throw new PayoutRejected('another amount')
        if (before.status === 'asked' || before.status === 'withdrawn') throw new PayoutRejected('a payout that was never sent')
        const isOpen = before.status === 'claimed' || before.status === 'sent'
        if (status === 'accepted') {
          if (before.status === 'claimed') await store.updatePayout(tx, before.id, { status: 'sent', sent_at: now() })
          return
        }
        if (status === before.status) {
          if (status !== 'failed' && reference !== before.reference) throw new PayoutRejected('paid a second time, by another payment')
          return
        }
        if (status === 'done' && before.status === 'returned' && reference === before.reference) return
        if (!isOpen && !(status === 'returned' && before.status === 'done')) throw new PayoutRejected(`${status} after it was ${before.status}`)
        if (status === 'returned' && !isOpen && reference !== before.reference) throw new PayoutRejected('another payment was returned')
        const ended = at ?? now()
        // What it says of other days nobody would find in the file of its day.
        if (ended.getTime() < (before.claimed_at?.getTime() ?? 0) - mostAgeMs || ended.getTime() > now().getTime() + mostAgeMs)
          throw new PayoutRejected('ended at a time when it cannot have')
        await store.lockOwed(tx, before.provider_id)
        await dueAgain(tx, dayOf(ended), before.channel_id)
        const amount = toDecimal(BigInt(before.amount))
        if (status === 'failed') {
          await store.updatePayout(tx, before.id, { status, reference, reason, ended_at: ended })
          await moved(tx, before, 'failed', ['transit', 'payable'], { note: reason })
          await told(tx, before, (name) => texts.failed(name, amount, reason), true)
          return
        }
        if (isOpen) await moved(tx, before, 'done', ['transit', 'paid'], { note: reference })
        if (status === 'done') {
          await store.updatePayout(tx, before.id, { status, reference, reason: '', done_at: ended })
          await settleRuns(tx, before, { at: ended, name: before.asked_by_name, reference })
          await told(tx, before, (name) => texts.done(name, amount), false)
          return
        }
        await store.updatePayout(tx, before.id, { status, reference, reason, done_at: before.done_at ?? ended, ended_at: ended })
        await moved(tx, before, 'returned', ['paid', 'payable'], { note: reason })
        await settleRuns(tx, before, { at: ended, name: before.asked_by_name, reference })
        await told(tx, before, (name) => texts.returned(name, amount, reason), true)
      }),
    )
  }

  /** Takes what may be sent, and says so before anything is. */
  const claim = (): Promise<{ client: OpenChannel; claimed: readonly PayoutRow[] } | null> =>
    db.transaction().execute(async (tx) => {
      // Through this very channel they are sent, and asked about: another one takes its place only while it has none.
      const client = await channels.sending(tx)
      if (client === null) return null
      const claimed: PayoutRow[] = []
      for (const row of await store.sendable(tx, atOnce)) {
        // It goes where those who decided saw that it goes, or nowhere.
        const bank = await currentBank(tx, row.provider_id, now())
        if (bank === undefined || bank.id !== row.bank_id) continue
        const changes = { status: 'claimed' as const, claimed_at: now(), channel_id: client.channel_id }
        await store.updatePayout(tx, row.id, changes)
        claimed.push({ ...row, ...changes })
      }
      return { client, claimed }
    })
  const send = async (client: OpenChannel, row: PayoutRow): Promise<void> => {
    const bank = found(await store.bankOf(db, row.bank_id ?? ''))
    const purpose = texts.purpose(await settings.get('title'))
    await settle(await client.send({ id: row.id, amount: BigInt(row.amount), purpose }, banks.open(bank)), client)
  }
  /** Where nothing certain came back, the payout stays as it is: it is asked about, and never sent under another key. */
  const trying = async (row: Pick<PayoutRow, 'id'>, act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      // Also bank details that cannot be opened: they keep nobody else from being paid.
      if (!isChannelTrouble(error) && !(error instanceof UnreadableError)) throw error
      log.warn({ payout: row.id, reason: error.message }, 'the channel of payouts gave no answer that counts')
    }
  }
  const ask = async (client: OpenChannel, row: PayoutRow): Promise<void> => {
    const answer = await client.ask(row.id)
    // It never came there, so the same is sent again: under its own key it is the same payout.
    if (answer.status === 'unknown' && row.status === 'claimed') {
      if ((row.claimed_at?.getTime() ?? 0) < now().getTime() - resentMs) return
      if ((await channels.enabled()) && (await getProvider(db, row.provider_id))?.status !== 'disabled') await send(client, row)
    } else await settle(answer, client)
  }
  const run = async (signal?: AbortSignal): Promise<void> => {
    const isOver = (): boolean => signal?.aborted === true
    for (;;) {
      if (isOver()) return
      const taken = await claim()
      if (taken === null) break
      for (const row of taken.claimed) await trying(row, () => send(taken.client, row))
      if (taken.claimed.length < atOnce) break
    }
    for (const row of await store.claimSilent(db, now(), asking)) {
      if (isOver()) return
      const client = await channels.client(row.channel_id)
      if (client === null) continue
      await trying(row, () => ask(client, row))
    }
    await store.forgetNonces(db, new Date(now().getTime() - 2 * mostAgeMs))
  }

  return {
    job: payoutJob,
    jobHandler: handleJob(payoutJob, (_, { signal }) => run(signal)),
    run,

    async balance(actor: Actor, providerId: string): Promise<SplitBalance> {
      if (!sees(await scopeFor(db, actor), providerId)) throw new Refusal('notFound')
      found(await getProvider(db, providerId))
      const [{ pending, payable, transit, paid }, { least, most, approvedAbove }] = await Promise.all([balancesOf(db, providerId), limits()])
      return {
        pending: toDecimal(pending),
        payable: toDecimal(payable),
        transit: toDecimal(transit),
        paid: toDecimal(paid),
        least: toDecimal(least),
        most: toDecimal(most),
        approved_above: toDecimal(approvedAbove),
      }
    },
    /** What a payout is called, as far as somebody sees it. */
    async seen(on: Sql, actor: Actor, id: string): Promise<string | undefined> {
      const row = await store.getPayout(on, await scopeFor(on, actor), id)
      return row === undefined ? undefined : `${row.provider_name} ${toDecimal(BigInt(row.amount))}`
    },
    list: async (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listPayouts(db, await scopeFor(db, actor), query), shape),
    get,

    /** @throws Refusal 404, 26018, 98210, 98211, 98212, 98214 */
    async create(actor: Actor, { provider_id, amount: text }: BodyOf<Calls['create']>): Promise<SplitPayout> {
      const amount = toMinor(text)
      const { least, most, approvedAbove } = await limits()
      if (amount < least || amount > most || amount < fen)
        throw new Refusal('splitPayoutBounds', { field: 'amount', values: { least: toDecimal(least), most: toDecimal(most) } })
      if (!(await channels.enabled())) throw new Refusal('splitChannelMissing')
      const id = uuidv7()
      await db.transaction().execute(async (tx) => {
        // Who comes second waits here, and finds less.
        if (!(await store.lockOwed(tx, provider_id))) throw new Refusal('notFound', { field: 'provider_id' })
        if ((await getProvider(tx, provider_id))?.status === 'disabled') throw new Refusal('providerDisabled', { field: 'provider_id' })
        const bank = await currentBank(tx, provider_id, now())
        if (bank === undefined) throw new Refusal('splitBankMissing', { field: 'provider_id' })
        const { payable } = await balancesOf(tx, provider_id)
        if (amount > payable)
          throw new Refusal('splitPayoutTooMuch', { field: 'amount', values: { payable: toDecimal(payable > 0n ? payable - (payable % fen) : 0n) } })
        const alone = await store.decidedAlone(tx, provider_id, new Date(now().getTime() - aloneMs))
        const row: PayoutRow = {
          id,
          provider_id,
          amount: String(amount),
          status: 'asked',
          // Of what one person alone decides in a week all counts together, and nobody pays where they alone said.
          four_eyes: amount + alone > approvedAbove || (bank.approved_by === null && bank.set_by === actor.user_id),
          approved_by: null,
          approved_by_name: null,
          bank_id: bank.id,
          channel_id: null,
          reference: '',
          reason: '',
          asked_by: actor.user_id,
          asked_by_name: actor.name,
          created_at: now(),
          claimed_at: null,
          sent_at: null,
          done_at: null,
          ended_at: null,
          queried_at: null,
          corrected: 0,
        }
        const parts = allotted(amount, await store.openRuns(tx, provider_id))
        await store.insertPayout(tx, row)
        if (parts.length > 0)
          await store.insertParts(
            tx,
            parts.map((part) => ({ payout_id: id, run_id: part.id, amount: String(part.amount) })),
          )
        await moved(tx, row, 'asked', ['payable', 'transit'], { by: actor.name })
        if (row.four_eyes) {
          const name = (await getProvider(tx, provider_id))?.name ?? ''
          const about = { kind: 'split.payout' as const, id, name }
          await tellKeepers(tx, { kind: 'split.payout', text: texts.toApprove(name, toDecimal(amount)), about }, actor.user_id)
        } else await jobs.send(tx, payoutJob, {})
      })
      return get(actor, id)
    },

    /** @throws Refusal 404, 1120, 90010, 91125, 98209 */
    async approve(actor: Actor, id: string, password: string | undefined): Promise<SplitPayout> {
      await prove(actor, password)
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockPayout(tx, await scopeFor(tx, actor), id))
        refuseUnless(payoutCan.approve, row)
        if (row.asked_by === actor.user_id) throw new Refusal('splitOwnApproval')
        await store.updatePayout(tx, id, { approved_by: actor.user_id, approved_by_name: actor.name })
        await jobs.send(tx, payoutJob, {})
      })
      return get(actor, id)
    },

    /** @throws Refusal 404, 90010 */
    async withdraw(actor: Actor, id: string): Promise<SplitPayout> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockPayout(tx, await scopeFor(tx, actor), id))
        refuseUnless(payoutCan.withdraw, row)
        await store.lockOwed(tx, row.provider_id)
        await store.updatePayout(tx, id, { status: 'withdrawn', ended_at: now() })
        await moved(tx, row, 'withdrawn', ['transit', 'payable'], { by: actor.name })
      })
      return get(actor, id)
    },

    /** @throws Refusal 404, 90010, 98214, 98216 */
    async query(actor: Actor, id: string): Promise<SplitPayout> {
      const row = found(await store.getPayout(db, await scopeFor(db, actor), id))
      refuseUnless(payoutCan.query, row)
      const client = await channels.client(row.channel_id)
      if (client === null) throw new Refusal('splitChannelMissing')
      try {
        await ask(client, row)
      } catch (cause) {
        if (!isChannelTrouble(cause)) throw cause
        log.warn({ payout: id, reason: cause.message }, 'the channel of payouts gave no answer that counts')
        throw new Refusal('splitChannelSilent', { cause })
      }
      return get(actor, id)
    },

    /** Asks what became of one, and goes by it. @throws Refusal 98214, PayoutRejected, AddressForbidden, ProviderUnreachable */
    async askAbout(id: string): Promise<PayoutAnswer> {
      const client = await channels.client((await store.channelOf(db, id)) ?? null)
      if (client === null) throw new Refusal('splitChannelMissing')
      const answer = await client.ask(id)
      await settle(answer, client)
      return answer
    },

    /**
     * Brings a payout to what two people agreed on, and its statements with it. The caller holds it and what is owed, and moves the
     * money. @throws Refusal 98222
     */
    async correct(
      tx: Tx,
      before: PayoutRow,
      {
        status,
        amount,
        reference,
        at,
        reason,
        by,
      }: { status: 'done' | 'failed' | 'returned'; amount: bigint; reference: string; at: Date; reason: string; by: string },
    ): Promise<void> {
      const { id, provider_id } = before
      const runs = new Set(await store.runsOfPayout(tx, id))
      await refusing({ split_payouts_reference: 'splitReferenceTaken' }, () =>
        store.updatePayout(tx, id, {
          status,
          amount: String(amount),
          reference,
          reason: status === 'done' ? '' : reason,
          done_at: status === 'done' ? at : status === 'failed' ? null : (before.done_at ?? at),
          ended_at: status === 'done' ? null : at,
          corrected: before.corrected + 1,
        }),
      )
      if (String(amount) !== before.amount) {
        await store.deleteParts(tx, id)
        const parts = allotted(amount, await store.openRuns(tx, provider_id))
        if (parts.length > 0)
          await store.insertParts(
            tx,
            parts.map((part) => ({ payout_id: id, run_id: part.id, amount: String(part.amount) })),
          )
        for (const part of parts) runs.add(part.id)
      }
      await settleRuns(tx, before, { at, name: by, reference, runs: [...runs] })
      await dueAgain(tx, dayOf(at), before.channel_id)
      const text = toDecimal(amount)
      await told(tx, before, (name) => (status === 'done' ? texts.done(name, text) : texts[status](name, text, reason)), false)
    },

    /** What the channel sent. False where it is not believed; it changed nothing then. */
    async notified(message: unknown): Promise<boolean> {
      let reason = 'there is no channel'
      for (const client of await channels.all()) {
        try {
          const { nonce, ...answer } = client.verify(message)
          await settle(answer, client, nonce)
          return true
        } catch (error) {
          if (!(error instanceof PayoutRejected)) throw error
          reason = error.message
        }
      }
      // Nothing of the message itself: anybody may have sent it, and anything may stand in it.
      log.warn({ reason }, 'a message of the channel of payouts was refused')
      return false
    },
  }
}

const abs = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/** Which statements a payout pays: what is to be taken back first, then the oldest. What nothing is open of gets nothing. */
export function allotted(amount: bigint, runs: readonly Pick<store.OpenRun, 'id' | 'open'>[]): { id: string; amount: bigint }[] {
  const open = runs.map(({ id, open: [, provider = 0n] }) => ({ id, open: provider }))
  let left = open.reduce((sum, run) => (run.open < 0n ? sum - run.open : sum), amount)
  return open.flatMap((run) => {
    if (run.open < 0n) return [{ id: run.id, amount: run.open }]
    const part = run.open < left ? run.open : left
    left -= part
    return part > 0n ? [{ id: run.id, amount: part }] : []
  })
}
