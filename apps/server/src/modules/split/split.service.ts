import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { toDecimal } from '@zhisuan/contract/bill/money'
import {
  contractCan,
  printedLines,
  runCan,
  splitKeepers,
  statementFormats,
  type StatementFormat,
  type SplitContract,
  type splitContracts,
  type SplitLine,
  type SplitRun,
  type splitRuns,
  type SplitTerms,
  type SplitTrial,
} from '@zhisuan/contract/split/contract'
import type { FigureLine, SplitFigures, splitFigures, SplitProvider } from '@zhisuan/contract/split/provider'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { z } from 'zod'
import { authoredBy, type Actor } from '../../platform/auth/actor.ts'
import { iso, isoOrNull, type Sql, type Tx } from '../../platform/db/database.ts'
import { ahead, shapedPage } from '../../platform/db/page.ts'
import { refusing } from '../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../platform/errors.ts'
import { csvFile, xlsxFile, type ExportColumn } from '../../platform/exports.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import { postConfirmed, postNoted, postStated } from './ledger/movements.ts'
import {
  added,
  adjustmentOf,
  adjustments,
  covers,
  firstPeriod,
  moved,
  overlaps,
  partsOf,
  planMonth,
  stepOf,
  takenBack,
  versionFor,
  type MonthPlan,
} from './month.ts'
import type { Prove } from './bank/bank.service.ts'
import { lockOwed, openRuns } from './payout/payout.store.ts'
import { providerOf, scopeFor, type SplitScope } from './scope.ts'
import { shared } from './shares.ts'
import * as store from './split.store.ts'
import type { LineRow, RunRow, ShownContract, ShownRun, VersionRow } from './split.store.ts'
import { splitTexts as texts } from './split.texts.ts'

type Contracts = typeof splitContracts
type Runs = typeof splitRuns

const linesAtOnce = 1_000
const dayMs = 86_400_000
const clockJob = defineJob({ name: 'split.clock', input: z.object({}), concurrency: 1, schedule: '13 * * * *' })

export type SplitService = ReturnType<typeof createSplit>

/** The split centre: what users paid for the machines of providers, shared out by contract, once a month. */
export function createSplit({ db, downloads, now }: Pick<Platform, 'db' | 'downloads' | 'now'>, { tell, prove }: { tell: Tell; prove: Prove }) {
  /** A month of Beijing. */
  const periodNow = (): string => iso(new Date(now().getTime() + 8 * 3_600_000)).slice(0, 7)
  const providerActive = async (on: Sql, id: string, field?: string): Promise<{ id: string; name: string }> => {
    const provider = await store.getProvider(on, id)
    if (provider === undefined) throw new Refusal('notFound', field === undefined ? {} : { field })
    if (provider.status === 'disabled') throw new Refusal('providerDisabled', field === undefined ? {} : { field })
    return provider
  }

  /** What terms come to in one month, whatever was shared out of it already. */
  const tryTerms = async (providerId: string, period: string, terms: SplitTerms): Promise<SplitTrial> => {
    const own = (await store.usageSums(db, providerId, period)).filter((sum) => covers(terms, sum))
    const base = own.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
    const step = stepOf(terms, base)
    let sums: bigint[] = terms.parties.map(() => 0n)
    for (let after: { from: Date; id: number } | null = null; ;) {
      const rows: Awaited<ReturnType<typeof store.usageOf>> = await store.usageOf(db, { providerId, period, after, limit: linesAtOnce })
      if (rows.length === 0) break
      after = rows.at(-1) ?? after
      for (const row of rows) if (covers(terms, row)) sums = added(sums, shared(BigInt(row.amount), partsOf(terms, step)))
    }
    const adjustment = adjustmentOf(terms, sums[1] ?? 0n)
    sums = moved(sums, adjustment)
    return {
      period,
      base: toDecimal(base),
      line_count: own.reduce((count, sum) => count + sum.count, 0),
      step,
      shares: terms.parties.map((party, index) => ({ party, amount: toDecimal(sums[index] ?? 0n) })),
      adjustment: toDecimal(adjustment),
    }
  }

  /** As people read a statement; its hash is of the very same as CSV. */
  const columnsOf = (terms: SplitTerms): ExportColumn<LineRow>[] => [
    { title: texts.id, cell: ({ line }) => String(line) },
    { title: texts.kind, cell: ({ kind }) => texts.kinds[kind] },
    { title: texts.period, cell: ({ period }) => period },
    { title: texts.from, cell: ({ from }) => (from === null ? null : { moment: from }) },
    { title: texts.meter, cell: ({ meter }) => meter },
    { title: texts.model, cell: ({ model }) => model },
    { title: texts.cards, cell: ({ cards }) => cards.join(' ') },
    { title: texts.rental, cell: ({ rental_name }) => rental_name },
    { title: texts.payer, cell: ({ payer }) => payer },
    { title: texts.version, cell: ({ version_number }) => String(version_number) },
    { title: texts.base, cell: ({ base }) => ({ amount: toDecimal(BigInt(base)) }), summed: true },
    ...terms.parties.map(({ name }, index) => ({
      title: texts.share(name),
      cell: ({ amounts }: LineRow) => ({ amount: toDecimal(BigInt(amounts[index] ?? 0)) }),
      summed: true,
    })),
    { title: texts.original, cell: ({ original }) => original },
  ]
  async function* linesOf(on: Sql, runId: string): AsyncGenerator<readonly LineRow[]> {
    for (let last = 0; ;) {
      const rows = await store.linesAfter(on, runId, last, linesAtOnce)
      if (rows.length === 0) return
      yield rows
      last = rows.at(-1)?.line ?? last
    }
  }
  const wish = z.object({ id: z.uuid(), format: z.enum(statementFormats) })
  const statementKind = 'split-statement'
  downloads.offer(statementKind, async (text) => {
    const { id, format } = wish.parse(JSON.parse(text))
    const run = await store.getRun(db, { everything: true }, id)
    if (run === undefined) return null
    if (format === 'pdf') {
      // With the first one: fonts and their programs are as large as all of ours.
      const { printStatement } = await import('./statement.pdf.ts')
      const bytes = await printStatement(shapeRun(run), await store.linesAfter(db, id, 0, printedLines))
      return {
        name: `${texts.file}-${run.contract_name}-${run.period}.pdf`,
        size: bytes.length,
        open: (range) => Readable.from([range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)], { objectMode: false }),
      }
    }
    const columns = columnsOf(run.terms)
    const open = { csv: () => csvFile(columns, linesOf(db, id)), xlsx: () => xlsxFile(columns, linesOf(db, id), texts.total) }[format]
    return { name: `${texts.file}-${run.contract_name}-${run.period}.${format}`, size: null, open }
  })
  /** Of the statement as CSV, behind the hash of the one before it. */
  const hashOf = async (lines: AsyncIterable<readonly LineRow[]>, terms: SplitTerms, previous: string | null): Promise<string> => {
    const hash = createHash('sha256').update(previous ?? '')
    for await (const chunk of csvFile(columnsOf(terms), lines)) hash.update(chunk as string)
    return hash.digest('hex')
  }

  const whose = ({ kind, name }: SplitTerms['parties'][number]): readonly string[] => [kind, name]
  const shapeVersion = (row: VersionRow) => ({
    number: row.number,
    signed_at: isoOrNull(row.signed_at),
    signed_by: row.signed_by,
    from: row.from_period,
    terms: row.terms,
  })
  const shapeContract = (row: ShownContract, versions: readonly VersionRow[]): SplitContract => {
    const own = versions.filter(({ contract_id }) => contract_id === row.id)
    const [draft, current] = [
      own.find(({ signed_at }) => signed_at === null),
      versionFor(own, periodNow()) ?? own.findLast(({ signed_at }) => signed_at !== null),
    ]
    return {
      id: row.id,
      name: row.name,
      provider: { id: row.provider_id, name: row.provider_name },
      status: row.status,
      current: current === undefined ? null : shapeVersion(current),
      draft: draft === undefined ? null : shapeVersion(draft),
      ended_after: row.ended_after,
      created_by: row.created_by_name,
      created_at: iso(row.created_at),
    }
  }
  const contract = async (id: string): Promise<SplitContract> => {
    const row = found(await store.getContract(db, id))
    return shapeContract(row, await store.versionsOf(db, [id]))
  }
  const shapeRun = (row: ShownRun): SplitRun => ({
    id: row.id,
    contract: { id: row.contract_id, name: row.contract_name },
    provider: { id: row.provider_id, name: row.provider_name },
    version: row.version_number,
    period: row.period,
    status: row.status,
    base: toDecimal(BigInt(row.base)),
    line_count: row.line_count,
    late_count: row.late_count,
    adjustment: toDecimal(BigInt(row.adjustment)),
    shares: row.terms.parties.map((party, index) => ({ party, amount: toDecimal(BigInt(row.amounts[index] ?? 0)) })),
    hash: row.hash,
    previous_hash: row.previous_hash,
    confirm_by: iso(row.confirm_by),
    confirmed_at: isoOrNull(row.confirmed_at),
    confirmed_by: row.confirmed_by,
    dispute: row.dispute,
    answer: row.answer,
    paid_at: isoOrNull(row.paid_at),
    paid_by: row.paid_by,
    paid_reference: row.paid_reference,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })
  const shapeOrder = (order: store.ShownLine['order'], scope: SplitScope): SplitLine['order'] =>
    // Numbers count up over all: of a provider's own they would tell how many others there are.
    order === null || (scope !== null && 'everything' in scope) ? order : { id: order.id, number: order.id.slice(-8).toUpperCase() }
  const shapeLine = (row: store.ShownLine, scope: SplitScope): SplitLine => ({
    id: String(row.line),
    kind: row.kind,
    from: isoOrNull(row.from),
    meter: row.meter as SplitLine['meter'],
    model: row.model,
    cards: row.cards,
    rental: row.rental_id === null ? null : { id: row.rental_id, name: row.rental_name ?? '' },
    order: shapeOrder(row.order, scope),
    payer: row.payer,
    version: row.version_number,
    base: toDecimal(BigInt(row.base)),
    amounts: row.amounts.map((amount) => toDecimal(BigInt(amount))),
    original_id: row.original,
  })
  const run = async (actor: Actor, id: string): Promise<SplitRun> => shapeRun(found(await store.getRun(db, await scopeFor(db, actor), id)))
  /** Who speaks for a provider does so by its binding alone, and settles for nobody. */
  const scopeOfProvider = async (actor: Actor): Promise<SplitScope> => {
    const provider_id = await providerOf(db, actor.user_id)
    if (provider_id !== null && splitKeepers.some((role) => actor.roles.includes(role))) throw new Refusal('splitKeeperBound')
    return provider_id === null ? null : { provider_id }
  }
  const changeRun = async (
    actor: Actor,
    id: string,
    action: keyof typeof runCan,
    change: (tx: Tx, row: RunRow) => Promise<Partial<RunRow>>,
    { moves = false } = {},
  ): Promise<SplitRun> => {
    const scope = action === 'confirm' || action === 'dispute' ? await scopeOfProvider(actor) : await scopeFor(db, actor)
    const { provider_id } = found(await store.getRun(db, scope, id))
    await db.transaction().execute(async (tx) => {
      // Before the row, as whoever pays does.
      if (moves) await lockOwed(tx, provider_id)
      const row = found(await store.lockRun(tx, scope, id))
      refuseUnless(runCan[action], row)
      await store.updateRun(tx, id, await change(tx, row))
    })
    return run(actor, id)
  }
  const nameOf = async (tx: Tx, contractId: string): Promise<string> => (await store.getContract(tx, contractId))?.name ?? ''
  const tellProvider = async (
    tx: Tx,
    row: Pick<RunRow, 'id' | 'provider_id' | 'period' | 'contract_id'>,
    text: (name: string, period: string) => string,
  ): Promise<void> => {
    const name = await nameOf(tx, row.contract_id)
    for (const { id } of await store.accountsOf(tx, row.provider_id))
      await tell(tx, {
        kind: 'split.statement',
        bp_id: null,
        user_id: id,
        text: text(name, row.period),
        about: { kind: 'split.run', id: row.id, name: row.period },
        key: uuidv7(),
      })
  }

  /** Somebody did, or time. */
  const confirmed = async (tx: Tx, row: RunRow, by: string | null): Promise<Partial<RunRow>> => {
    await postConfirmed(tx, row, row.amounts.map(BigInt), by ?? '')
    return { status: 'confirmed', confirmed_at: now(), confirmed_by: by }
  }

  /** Splits a month; the caller holds the contract. */
  const splitMonth = async (tx: Tx, actor: Actor, row: store.ContractRow, period: string): Promise<string> => {
    const versions = await store.versionsOf(tx, [row.id])
    const first = firstPeriod(versions)
    if (first === undefined || versionFor(versions, period) === undefined) throw new Refusal('splitPeriodOutside', { field: 'period' })
    if (period >= periodNow()) throw new Refusal('splitPeriodOpen', { field: 'period' })
    const runs = await store.runsOf(tx, row.id)
    if (runs.some((one) => one.period === period)) throw new Refusal('periodAlreadySplit', { field: 'period' })
    const due = runs.at(-1) === undefined ? first : nextPeriod(runs.at(-1)?.period ?? '')
    if (period !== due) throw new Refusal('splitPeriodOrder', { field: 'period', values: { period: due } })

    // Its step follows from all of the month, so all of it has to be there.
    if (await store.isUnrated(tx, row.provider_id, period)) throw new Refusal('splitUsageUnrated', { field: 'period' })
    // All of it is of one moment: what is rated or paid meanwhile is late.
    await store.takeUsage(tx, { providerId: row.provider_id, until: period, since: first })
    const plan = planMonth({ period, versions, stated: runs, ended_after: row.ended_after }, await store.sumsTaken(tx))
    if (plan === undefined) throw new Refusal('splitPeriodOutside', { field: 'period' })
    const { version, step } = plan
    const id = uuidv7()
    const at = now()
    const [previous] = runs.slice(-1)
    const record = {
      id,
      contract_id: row.id,
      provider_id: row.provider_id,
      version_number: version.number,
      period,
      own_base: String(plan.own_base),
      step,
      base: '0',
      line_count: 0,
      late_count: 0,
      adjustment: '0',
      amounts: version.terms.parties.map(() => '0'),
      hash: '',
      previous_hash: previous?.hash ?? null,
      confirm_by: new Date(at.getTime() + version.terms.confirm_days * dayMs),
      confirmed_at: null,
      confirmed_by: null,
      dispute: null,
      answer: null,
      paid_at: null,
      paid_by: null,
      paid_reference: null,
      created_by: actor.user_id,
      created_by_name: actor.name,
    }
    await refusing({ split_runs_once: ['periodAlreadySplit', 'period'] }, () => store.insertRun(tx, record))

    let [base, count, late, adjustment] = [0n, 0, 0, 0n]
    let sums: bigint[] = version.terms.parties.map(() => 0n)
    const counted = (lines: readonly LineRow[]): readonly LineRow[] => {
      for (const line of lines) {
        base += BigInt(line.base)
        sums = added(sums, line.amounts.map(BigInt))
        if (line.kind === 'late' || line.kind === 'refund') late++
      }
      count += lines.length
      return lines
    }
    async function* sharesOf(of: MonthPlan<VersionRow>): AsyncGenerator<Parameters<typeof store.insertUses>[2]> {
      for (let after = 0; ;) {
        const rows = await store.takenAfter(tx, after, linesAtOnce)
        if (rows.length === 0) return
        after = rows.at(-1)?.id ?? after
        yield rows.flatMap((one) => {
          const share = of.share(one)
          return share === undefined ? [] : [{ ...share, usage_line_id: one.id }]
        })
      }
    }
    /** Each is kept as it is read: however many there are, some of them are in memory. */
    async function* written(of: MonthPlan<VersionRow>): AsyncGenerator<readonly LineRow[]> {
      for await (const shares of ahead(sharesOf(of))) yield counted(await store.insertUses(tx, { run_id: id, after: count }, shares))
      for (let after = 0; ;) {
        const rows = await store.noUseAnyMore(tx, row, { after, limit: linesAtOnce })
        if (rows.length === 0) break
        after = rows.at(-1)?.id ?? after
        yield counted(
          await store.insertRefunds(
            tx,
            { run_id: id, after: count },
            rows.map((line) => ({ original_id: line.id, ...takenBack(line) })),
          ),
        )
      }
      // What came late to a month may have moved it past its floor or cap, too.
      for (const one of adjustments({ versions, plan: of, period }, await store.earnedByPeriod(tx, row.id))) {
        adjustment += one.moved
        yield counted([await store.insertAdjustment(tx, { run_id: id, after: count }, { ...one, amounts: one.amounts.map(String) })])
      }
    }
    const hash = await hashOf(ahead(written(plan)), version.terms, previous?.hash ?? null)
    await store.updateRun(tx, id, {
      base: String(base),
      line_count: count,
      late_count: late,
      adjustment: String(adjustment),
      amounts: sums.map(String),
      hash,
    })
    await postStated(tx, record, base, sums, actor.name)
    await tellProvider(tx, record, texts.statement)
    return id
  }

  const providers = async (scope: SplitScope): Promise<SplitProvider[]> =>
    (await store.providersShown(db, scope)).map(({ paid, waiting, created_at, ...row }) => ({
      ...row,
      status: row.status as SplitProvider['status'],
      paid: toDecimal(BigInt(paid)),
      waiting: toDecimal(BigInt(waiting)),
      created_at: iso(created_at),
    }))
  const provider = async (id: string) => ({
    ...found((await providers({ provider_id: id })).find((one) => one.id === id)),
    accounts: (await store.accountsOf(db, id)).map((account) => ({ ...account, created_at: iso(account.created_at) })),
  })
  /** Whole days of Beijing, today among them. */
  const sinceDays = (days: number): Date => new Date((Math.floor((now().getTime() + 8 * 3_600_000) / dayMs) - days + 1) * dayMs - 8 * 3_600_000)
  const figures = async (scope: SplitScope, days: number, model: string | null): Promise<SplitFigures> => {
    const from = sinceDays(days)
    const { days: byDay, models, week } = await store.sold(db, scope, { from, model })
    const hoursEach = (now().getTime() - from.getTime()) / 3_600_000
    // Of an amount per hour no fraction of the smallest unit is told.
    const amountOf = (text: string): bigint => BigInt(text.split('.')[0] ?? '0')
    return {
      hours: byDay.reduce((sum, one) => sum + one.hours, 0),
      amount: toDecimal(byDay.reduce((sum, one) => sum + amountOf(one.amount), 0n)),
      cards: models.reduce((sum, one) => sum + one.cards, 0),
      days: byDay.map((one) => ({ ...one, amount: toDecimal(amountOf(one.amount)) })),
      models: models.map((one) => ({
        provider: { id: one.provider_id, name: one.provider_name },
        model: one.model,
        cards: one.cards,
        hours: one.hours,
        use: one.cards === 0 ? null : one.hours / (one.cards * hoursEach),
        price: one.hours === 0 ? null : toDecimal(BigInt(Math.round(Number(amountOf(one.amount)) / one.hours))),
        amount: toDecimal(amountOf(one.amount)),
      })),
      week,
    }
  }

  return {
    jobs: [clockJob],
    jobHandlers: [
      handleJob(clockJob, () =>
        db.transaction().execute(async (tx) => {
          for (const row of await store.overdue(tx, now())) await store.updateRun(tx, row.id, await confirmed(tx, row, null))
        }),
      ),
    ],

    async contracts(query: QueryOf<Contracts['list']>) {
      const { total, rows } = await store.listContracts(db, query)
      const versions = await store.versionsOf(
        db,
        rows.map(({ id }) => id),
      )
      return { total, items: rows.map((row) => shapeContract(row, versions)) }
    },
    async contract(id: string): Promise<ResponseOf<Contracts['get']>> {
      const row = found(await store.getContract(db, id))
      const versions = await store.versionsOf(db, [id])
      return { ...shapeContract(row, versions), versions: versions.map(shapeVersion) }
    },
    async create(actor: Actor, { name, provider_id, from, terms }: BodyOf<Contracts['create']>): Promise<SplitContract> {
      const id = uuidv7()
      await refusing({ split_contracts_name: ['splitContractNameTaken', 'name'] }, () =>
        db.transaction().execute(async (tx) => {
          await providerActive(tx, provider_id, 'provider_id')
          await store.insertContract(tx, { id, name, provider_id, ended_after: null, ...authoredBy(actor) })
          await store.insertVersion(tx, {
            id: uuidv7(),
            contract_id: id,
            number: 1,
            from_period: from,
            terms: JSON.stringify(terms),
            signed_at: null,
            signed_by: null,
          })
        }),
      )
      return contract(id)
    },
    async amend(id: string, { from, terms }: BodyOf<Contracts['amend']>): Promise<SplitContract> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockContract(tx, id))
        refuseUnless(contractCan.amend, row)
        const [newest] = await store.versionsOf(tx, [id])
        // Shares are told by party: they stay who they are as long as something of theirs is shared out.
        const signed = (await store.versionsOf(tx, [id])).find(({ signed_at }) => signed_at !== null)
        if (signed !== undefined && JSON.stringify(signed.terms.parties.map(whose)) !== JSON.stringify(terms.parties.map(whose)))
          throw new Refusal('splitPartiesFixed', { field: 'terms.parties' })
        if (newest?.signed_at === null) await store.updateVersion(tx, newest.id, { from_period: from, terms: JSON.stringify(terms) })
        else
          await store.insertVersion(tx, {
            id: uuidv7(),
            contract_id: id,
            number: (newest?.number ?? 0) + 1,
            from_period: from,
            terms: JSON.stringify(terms),
            signed_at: null,
            signed_by: null,
          })
      })
      return contract(id)
    },
    async sign(actor: Actor, id: string): Promise<SplitContract> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockContract(tx, id))
        refuseUnless(contractCan.sign, row)
        await providerActive(tx, row.provider_id)
        const [draft] = await store.versionsOf(tx, [id])
        if (draft === undefined || draft.signed_at !== null) throw new Refusal('splitNothingWritten')
        const newest = (await store.versionsOf(tx, [id])).filter(({ signed_at }) => signed_at !== null).map(({ from_period }) => from_period)
        const latest = newest.toSorted().at(-1)
        if (latest !== undefined && draft.from_period < latest) throw new Refusal('splitVersionBefore', { values: { period: latest } })
        // Two that are signed at once see each other.
        await store.lockProvider(tx, row.provider_id)
        const others = (await store.contractsOf(tx, row.provider_id)).filter((one) => one.id !== id)
        const theirs = await store.versionsOf(
          tx,
          others.map((one) => one.id),
        )
        const overlapping = others.find(({ id: other, ended_after }) =>
          overlaps({ from: draft.from_period, terms: draft.terms }, { ended_after, versions: theirs.filter(({ contract_id }) => contract_id === other) }),
        )
        if (overlapping !== undefined) throw new Refusal('splitContractOverlaps', { values: { name: overlapping.name } })
        const last = (await store.runsOf(tx, id)).at(-1)
        if (last !== undefined && draft.from_period <= last.period) throw new Refusal('splitVersionPast', { values: { period: last.period } })
        await store.updateVersion(tx, draft.id, { signed_at: now(), signed_by: actor.name })
        await store.updateContract(tx, id, { status: 'active' })
      })
      return contract(id)
    },
    async end(id: string, after: string): Promise<SplitContract> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockContract(tx, id))
        refuseUnless(contractCan.end, row)
        const last = (await store.runsOf(tx, id)).at(-1)
        if (last !== undefined && after < last.period) throw new Refusal('splitVersionPast', { field: 'after', values: { period: last.period } })
        await store.updateContract(tx, id, { status: 'ended', ended_after: after })
      })
      return contract(id)
    },
    async remove(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockContract(tx, id))
        refuseUnless(contractCan.delete, row)
        await store.removeContract(tx, id)
      })
    },
    async try({ provider_id, period, terms }: BodyOf<Contracts['try']>): Promise<ResponseOf<Contracts['try']>> {
      if (period >= periodNow()) throw new Refusal('splitPeriodOpen', { field: 'period' })
      if ((await store.getProvider(db, provider_id)) === undefined) throw new Refusal('notFound', { field: 'provider_id' })
      const { rows } = await store.listContracts(db, { provider_id, page_num: 1, page_size: 100 })
      const versions = await store.versionsOf(
        db,
        rows.map(({ id }) => id),
      )
      const present = rows.flatMap(
        ({ id }) =>
          versionFor(
            versions.filter(({ contract_id }) => contract_id === id),
            period,
          ) ?? [],
      )[0]
      return { tried: await tryTerms(provider_id, period, terms), present: present === undefined ? null : await tryTerms(provider_id, period, present.terms) }
    },

    runs: async (actor: Actor, query: QueryOf<Runs['list']>) => shapedPage(store.listRuns(db, await scopeFor(db, actor), query), shapeRun),
    run,
    /** What a statement is called, as far as somebody sees it. */
    async seen(on: Sql, actor: Actor, id: string): Promise<string | undefined> {
      const row = await store.getRun(on, await scopeFor(on, actor), id)
      return row === undefined ? undefined : `${row.contract_name} ${row.period}`
    },
    async lines(actor: Actor, id: string, query: QueryOf<Runs['lines']>) {
      await run(actor, id)
      const scope = await scopeFor(db, actor)
      return shapedPage(store.listLines(db, id, query), (row) => shapeLine(row, scope))
    },
    async split(actor: Actor, { contract_id, period }: BodyOf<Runs['create']>): Promise<SplitRun> {
      const id = await db.transaction().execute(async (tx) => {
        // Who comes second waits here, and finds the month split.
        const row = await store.lockContract(tx, contract_id)
        if (row === undefined || row.status === 'draft') throw new Refusal('notFound', { field: 'contract_id' })
        await providerActive(tx, row.provider_id)
        await store.lockProvider(tx, row.provider_id)
        return splitMonth(tx, actor, row, period)
      })
      return run(actor, id)
    },
    confirm: (actor: Actor, id: string) => changeRun(actor, id, 'confirm', (tx, row) => confirmed(tx, row, actor.name)),
    dispute: (actor: Actor, id: string, reason: string) =>
      changeRun(actor, id, 'dispute', async (tx, row) => {
        const name = await nameOf(tx, row.contract_id)
        await tell(tx, {
          kind: 'split.disputed',
          bp_id: null,
          text: texts.disputed(name, row.period),
          about: { kind: 'split.run', id, name: row.period },
          key: uuidv7(),
        })
        return { status: 'disputed', dispute: reason, answer: null }
      }),
    answer: (actor: Actor, id: string, text: string) =>
      changeRun(actor, id, 'answer', async (tx, row) => {
        const terms = (await store.versionsOf(tx, [row.contract_id])).find(({ number }) => number === row.version_number)?.terms
        await tellProvider(tx, row, texts.answered)
        return { status: 'stated', answer: text, confirm_by: new Date(now().getTime() + (terms?.confirm_days ?? 7) * dayMs) }
      }),
    async pay(actor: Actor, id: string, { reference, password }: BodyOf<Runs['pay']>): Promise<SplitRun> {
      await prove(actor, password)
      return changeRun(
        actor,
        id,
        'pay',
        async (tx, row) => {
          // Four eyes: whoever says what is due does not say that it was paid.
          if (row.created_by === actor.user_id) throw new Refusal('splitOwnPayment')
          const [of] = await openRuns(tx, row.provider_id, [id])
          if (of !== undefined && of.asked !== 0n) throw new Refusal('splitPayoutOpen')
          await postNoted(tx, row, of?.open ?? [], { note: reference, by: actor.name })
          await tellProvider(tx, row, texts.paid)
          return { status: 'paid', paid_at: now(), paid_by: actor.name, paid_reference: reference }
        },
        { moves: true },
      )
    },
    async export(actor: Actor, id: string, format: StatementFormat): Promise<ExportLink> {
      await run(actor, id)
      return downloads.link(statementKind, JSON.stringify({ id, format }), actor)
    },

    async providers(actor: Actor) {
      const items = await providers(await scopeFor(db, actor))
      return { total: items.length, items }
    },
    provider,
    async bind(id: string, userId: string) {
      await refusing({ split_accounts_pkey: ['providerAccountBound', 'user_id'] }, () =>
        db.transaction().execute(async (tx) => {
          await providerActive(tx, id)
          const roles = await store.rolesOf(tx, userId)
          if (!roles.includes('PROVIDER')) throw new Refusal('splitAccountUnfit', { field: 'user_id' })
          if (splitKeepers.some((role) => roles.includes(role))) throw new Refusal('splitKeeperBound', { field: 'user_id' })
          await store.insertAccount(tx, { user_id: userId, provider_id: id })
        }),
      )
      return provider(id)
    },
    async unbind(id: string, userId: string): Promise<void> {
      if (!(await store.removeAccount(db, id, userId))) throw new Refusal('notFound')
    },
    mine: async (actor: Actor, days: number) => figures(await scopeFor(db, actor), days, null),
    async figureLines(actor: Actor, query: QueryOf<(typeof splitFigures)['lines']>) {
      const scope = await scopeFor(db, actor)
      return shapedPage(store.soldLines(db, scope, sinceDays(query.days), query), (row): FigureLine => ({
        id: [row.rental_id, iso(row.from), row.meter, row.variant].join(' '),
        from: iso(row.from),
        // What is sold of machines is of these meters.
        meter: row.meter as FigureLine['meter'],
        provider: { id: row.provider_id, name: row.provider_name },
        model: row.model,
        cards: row.cards,
        rental: { id: row.rental_id, name: row.rental_name },
        order: shapeOrder(row.order, scope),
        payer: row.payer,
        amount: toDecimal(BigInt(row.amount)),
      }))
    },
    figures: (days: number, providerId: string | undefined, model: string | undefined) =>
      figures(providerId === undefined ? { everything: true } : { provider_id: providerId }, days, model ?? null),
  }
}

/** The month after one. */
export const nextPeriod = (period: string): string => {
  const [year = 0, month = 0] = period.split('-').map(Number)
  return month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, '0')}`
}
