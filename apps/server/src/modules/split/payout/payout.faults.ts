import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { toMinor } from '@zhisuan/contract/bill/money'
import pino from 'pino'
import { sql } from 'kysely'
import { openDatabase, type Tx } from '../../../platform/db/database.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { someActor } from '../../../testing/actor.ts'
import { startBank } from '../../../testing/payout-bank.ts'
import { createBanks } from '../bank/bank.service.ts'
import { balancesOf, post, providerParty } from '../ledger/movements.ts'
import { startProxy } from '../split.faults.ts'
import { createPayoutChannels } from './channel.service.ts'

const worker = fileURLToPath(new URL('payout.worker.ts', import.meta.url))
const keys = { sign_type: 'HMAC-SHA256' as const, key: 'a common secret of both', gateway_public_key: '' }
const merchant_id = 'm-1'
const amount = toMinor('10')

async function startWorker(url: string) {
  const child = fork(worker, { env: { ...process.env, DATABASE_URL: url }, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const answer = async (): Promise<string | null> => {
    const [said] = (await Promise.race([once(child, 'message'), gone.then(() => [{ failed: 'killed' }])])) as [{ failed: string | null }]
    return said.failed
  }
  await answer()
  return {
    kill: () => void child.kill('SIGKILL'),
    run: (ahead: number) => {
      child.send({ ahead })
      return answer()
    },
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await gone
    },
  }
}

/**
 * A process that sends a payout is killed (-9), and another goes on a minute later: payout after payout, at each statement that it
 * makes, behind each, and while the bank has the question. Whatever happened, the payout is paid once.
 * @param all else only at the last statement before the question, while the bank has it, and at the first behind its answer
 */
export async function killWhilePaying(url: string, all: boolean): Promise<{ readonly killed: number; readonly statements: number }> {
  const { db, close } = openDatabase(url, { poolSize: 2, log: pino({ level: 'silent' }) })
  const bank = await startBank(keys, merchant_id, () => new Date())
  const proxy = await startProxy(url)
  const other = await startWorker(url)
  const provider = randomUUID()
  const secrets = createSecrets(Buffer.alloc(32, 7))
  const now = (): Date => new Date()
  const nobody = async (): Promise<void> => undefined
  const ask = (id: string): Promise<void> =>
    db.transaction().execute(async (tx: Tx) => {
      await sql`insert into split_payouts (id, provider_id, amount, status, four_eyes, bank_id, reference, reason, asked_by, asked_by_name, created_at)
        values (${id}, ${provider}, ${String(amount)}, 'asked', false, ${detailId}, '', '', ${randomUUID()}, '', now())`.execute(tx)
      await post(tx, { provider_id: provider, kind: 'asked', key: `asked ${id}`, run_id: null, note: '', by: '' }, [
        { account: 'payable', amount: -amount, party: providerParty },
        { account: 'transit', amount, party: providerParty },
      ])
    })
  let detailId = ''
  let [killed, statements, paid, askedAt] = [0, 0, 0n, 0]
  /** @param at which statement, held back or its answer; null: while the bank has the question, before or behind taking it */
  const kill = async (at: { readonly statement: number; readonly answered: boolean } | { readonly taken: boolean } | null): Promise<boolean> => {
    const id = randomUUID()
    await ask(id)
    const victim = await startWorker(proxy.url)
    try {
      let isKilled = false
      const strike = (): void => {
        isKilled = true
        victim.kill()
      }
      bank.fate = (_, times) => {
        askedAt = proxy.statements()
        if (times > 1 || at === null || 'statement' in at) return { ends: 'done' }
        strike()
        return at.taken ? { ends: 'done', answer: 'silent' } : { answer: 'lost' }
      }
      const [statement, answered] = at !== null && 'statement' in at ? [at.statement, at.answered] : [Infinity, false]
      void proxy.holdAt(statement, answered).then(strike)
      const failed = await victim.run(0)
      if (failed !== null && failed !== 'killed') throw new Error(failed)
      statements = Math.max(statements, proxy.statements())
      for (let minutes = 2; minutes <= 8; minutes += 2) await other.run(minutes * 60_000)
      paid += amount
      const row = await db.selectFrom('split_payouts').select(['status', 'reference']).where('id', '=', id).executeTakeFirstOrThrow()
      const payments = [...bank.payments.values()].filter((payment) => payment.payout_id === id)
      const balances = await balancesOf(db, provider)
      const isRight =
        row.status === 'done' && payments.length === 1 && payments[0]?.trade_id === row.reference && balances.transit === 0n && balances.paid === paid
      if (!isRight) throw new Error(`at ${JSON.stringify(at)}: ${JSON.stringify({ ...row, payments: payments.length, paid: String(balances.paid) })}`)
      if (isKilled) killed++
      return isKilled
    } finally {
      await victim.end()
    }
  }
  try {
    await sql`insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values (${provider}, null, ${provider}, 'x', '', 'verified', '')`.execute(
      db,
    )
    const banks = createBanks({ db, secrets, now }, { settings: { get: async () => '1' as never }, prove: nobody, tellProvider: nobody, tellKeepers: nobody })
    const keeper = someActor({ kind: 1, roles: ['ADMIN'], user_id: randomUUID() })
    const channels = createPayoutChannels({ db, secrets, now, config: { ZHISUAN_ENV: 'test' } }, { prove: nobody, tellKeepers: nobody })
    const { waiting } = await channels.set(keeper, { enabled: true, gateway: bank.url, merchant_id, ...keys })
    await channels.approve(someActor({ kind: 1, roles: ['ADMIN'], user_id: randomUUID() }), waiting?.id ?? '', undefined)
    const detail = await banks.create(keeper, provider, { holder: 'x', bank: 'x', account: '6222000011112222' })
    detailId = detail.id
    await sql`update split_bank_details set counts_from = now() where id = ${detail.id}`.execute(db)
    // Nothing is killed: now it is known what comes before the question.
    await kill(null)
    const before = askedAt
    if (all) {
      for (let statement = 1; await kill({ statement, answered: false }); statement++) await kill({ statement, answered: true })
    } else {
      await kill({ statement: before, answered: false })
      await kill({ statement: before + 1, answered: false })
    }
    for (const taken of [false, true]) await kill({ taken })
    return { killed, statements }
  } finally {
    await other.end()
    proxy.close()
    await bank.close()
    await close()
  }
}
