import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { nextPeriod } from './split.service.ts'

const worker = fileURLToPath(new URL('split.worker.ts', import.meta.url))

interface Worker {
  readonly process: ChildProcess
  split(contractId: string, period: string): Promise<string | null>
  end(): Promise<void>
}
async function startWorker(url: string): Promise<Worker> {
  const child = fork(worker, { env: { ...process.env, DATABASE_URL: url }, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const answer = async (): Promise<string | null> => {
    const [said] = (await Promise.race([once(child, 'message'), gone.then(() => [{ refusal: 'killed' }])])) as [{ refusal: string | null }]
    return said.refusal
  }
  await answer()
  return {
    process: child,
    split: (contract_id, period) => {
      child.send({ contract_id, period })
      return answer()
    },
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await gone
    },
  }
}

/** What a worker asks of its database goes through here; at one statement it is stopped. */
export async function startProxy(url: string) {
  const folder = new URL(url).searchParams.get('host')
  const { hostname, port } = new URL(url)
  const dial = (): Socket => (folder === null ? connect(Number(port), hostname) : connect(`${folder}/.s.PGSQL.5432`))
  let count = 0
  let [holdAt, holdsAnswer, reached]: [number, boolean, () => void] = [Infinity, false, () => undefined]
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = dial()
    let [begun, isHeld]: [boolean, boolean] = [false, false]
    let left: Buffer = Buffer.alloc(0)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => [client, database].forEach((one) => one.destroy()))
    }
    client.on('data', (chunk: Buffer) => {
      left = Buffer.concat([left, chunk])
      while (!isHeld) {
        // The first message has no type before its length.
        const at = begun ? 1 : 0
        const length = left.length >= at + 4 ? at + left.readInt32BE(at) : Infinity
        if (left.length < length) break
        const type = begun ? String.fromCodePoint(left[0] ?? 0) : ''
        // A query, or the first message of one with values.
        if (type === 'Q' || type === 'P') {
          count++
          if (count === holdAt) {
            isHeld = true
            if (!holdsAnswer) {
              reached()
              break
            }
          }
        }
        begun = true
        database.write(left.subarray(0, length))
        left = left.subarray(length)
      }
      if (isHeld && holdsAnswer) {
        database.write(left)
        left = Buffer.alloc(0)
      }
    })
    database.on('data', (chunk: Buffer) => {
      if (isHeld) reached()
      else client.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = new URL(url)
  through.search = ''
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: through.href,
    /** Counts from 1 anew. @returns once that statement is there and not handed on, or, `answered`, its answer is not */
    holdAt: (statement: number, answered: boolean): Promise<void> => {
      ;[count, holdAt, holdsAnswer] = [0, statement, answered]
      return new Promise((resolve) => (reached = resolve))
    },
    statements: (): number => count,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/**
 * Four processes split the same month at once, and one of them is killed (-9) at a statement: month after month at the next one, until
 * it comes to its end. Each month is looked at.
 * @param statements which of them, from 1; without any all, and after each the answer to it
 */
export async function killAtStatements(url: string, statements: readonly number[] | null): Promise<{ killed: number; statements: number }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const one = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row> => {
    const { rows } = await client.query<Row>(text, [...values])
    const [row] = rows
    if (row === undefined) throw new Error(`nothing came of ${text}`)
    return row
  }
  const proxy = await startProxy(url)
  const others = await Promise.all(Array.from({ length: 3 }, () => startWorker(url)))
  const [provider, contract, person] = [randomUUID(), randomUUID(), randomUUID()]
  const uses = 7
  try {
    await client.query(
      `insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values ($1, null, $2, 'x', '', 'verified', '')`,
      [provider, provider],
    )
    await client.query(`insert into users (id, name, kind, status, password_hash) values ($1, $2, 4, 'active', '')`, [person, `p-${person.slice(0, 8)}`])
    await client.query(`insert into split_accounts (user_id, provider_id) values ($1, $2)`, [person, provider])
    await client.query(`insert into split_contracts (id, name, provider_id, status, created_by_name) values ($1, $2, $3, 'active', '')`, [
      contract,
      contract,
      provider,
    ])
    await client.query(
      `insert into split_versions (id, contract_id, number, from_period, terms, signed_at, signed_by) values (gen_random_uuid(), $1, 1, '2020-01', $2, now(), '')`,
      [
        contract,
        JSON.stringify({
          parties: [
            { kind: 'platform', name: 'a' },
            { kind: 'provider', name: 'b' },
          ],
          steps: [{ above: '0', parts: [300_000, 700_000] }],
          meters: ['market.card'],
          models: [],
          floor: '1000',
          cap: null,
          confirm_days: 7,
        }),
      ],
    )
    let [period, killed, most, previous]: [string, number, number, string | null] = ['2020-01', 0, 0, null]
    const plan =
      statements === null
        ? Array.from({ length: 200 }, (_, index) => [1 + (index >> 1), index % 2 === 1] as const)
        : statements.map((statement) => [statement, false] as const)
    for (const [statement, answered] of plan) {
      // A line of the month before is given back, so that there is something of each kind.
      await client.query(
        `update usage_lines set voided_at = now() where id = (
           select min(usage_line_id) from split_lines join split_runs on split_runs.id = run_id
           where contract_id = $1 and kind = 'use' and usage_line_id in (select id from usage_lines where voided_at is null))`,
        [contract],
      )
      await client.query(
        `insert into usage_lines (resource_id, bp_id, product_id, sku_id, price_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
         select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ($2::text || '-10')::date + n * interval '1 hour', 1, 3600, 10000, 'market.card', 'o', 100000001,
           jsonb_build_object('provider_id', $3::text, 'cards', '[{"uuid": "GPU-1", "model": "A100"}]'::jsonb) from generate_series(1, ${uses}) as n`,
        [randomUUID(), period, provider],
      )
      const victim = await startWorker(proxy.url)
      try {
        const reached = proxy.holdAt(statement, answered)
        const splitting = victim.split(contract, period)
        const came = await Promise.race([reached.then(() => true), splitting.then(() => false)])
        const racing = others.map((other) => other.split(contract, period))
        if (came) {
          // The others stand before what it holds, or have gone by it.
          await new Promise((resolve) => setTimeout(resolve, 30))
          victim.process.kill('SIGKILL')
        }
        const answers = [await splitting, ...(await Promise.all(racing))]
        most = Math.max(most, proxy.statements())
        killed += came ? 1 : 0
        const done = answers.filter((answer) => answer === null).length
        const beside = answers.filter((answer) => answer !== null && answer !== 'periodAlreadySplit' && answer !== 'killed')
        // Killed behind its commit it has split the month and told nobody.
        const committedByVictim = done === 0 && answers[0] === 'killed'
        if (beside.length > 0 || (done !== 1 && !committedByVictim)) throw new Error(`${period}, at ${statement}: ${answers.join(', ')}`)
        const found = await one<{
          runs: number
          lines: number
          uses: number
          adds: boolean
          hash: string
          previous_hash: string | null
          told: number
          orphans: number
        }>(
          `select count(*)::int as runs, max(run.hash) as hash, max(run.previous_hash) as previous_hash,
             (select count(*)::int from split_lines where run_id = max(run.id::text)::uuid) - max(run.line_count)::int as lines,
             (select count(*)::int from split_lines where run_id = max(run.id::text)::uuid and kind = 'use') as uses,
             max(run.base) = (select sum(base) from split_lines where run_id = max(run.id::text)::uuid) as adds,
             (select count(*)::int from messages where about_id::text = max(run.id::text)) as told,
             (select count(*)::int from split_lines left join split_runs on split_runs.id = run_id where split_runs.id is null or split_runs.hash = '') as orphans
           from split_runs as run where contract_id = $1 and period = $2`,
          [contract, period],
        )
        const wrong =
          found.runs !== 1 ||
          found.lines !== 0 ||
          found.uses !== uses ||
          !found.adds ||
          found.previous_hash !== previous ||
          found.told !== 1 ||
          found.orphans !== 0
        if (wrong) throw new Error(`${period}, at ${statement}: ${JSON.stringify({ ...found, previous })}`)
        previous = found.hash
        period = nextPeriod(period)
        // It came to its end before that statement: there are no more.
        if (!came && statements === null) break
      } finally {
        await victim.end()
      }
    }
    return { killed, statements: most }
  } finally {
    for (const other of others) await other.end()
    proxy.close()
    await client.end()
  }
}
