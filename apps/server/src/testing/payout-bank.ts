import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { isSigned, signed, type Message, type SigningKeys } from '../platform/outbound/signed-messages.ts'

/** A payment as the bank has it. */
export interface BankPayment {
  readonly payout_id: string
  readonly trade_id: string
  readonly amount: string
  readonly holder: string
  readonly account: string
  status: 'accepted' | 'done' | 'failed' | 'returned'
  reason: string
  at: Date | null
  /** All that became of it, for the files of days. */
  readonly ended: { readonly status: 'done' | 'failed' | 'returned'; readonly at: Date }[]
}

/** What becomes of a payment, as the bank's test decides. */
export interface Fate {
  /** `lost`: the question never arrives. `silent`: it is taken, and no answer comes. */
  readonly answer?: 'lost' | 'silent'
  /** At once; left out: it is accepted, and ends later. */
  readonly ends?: 'done' | 'failed'
}

export interface TestBank {
  readonly url: string
  readonly payments: Map<string, BankPayment>
  /** All questions, with the path that they came to. */
  readonly asked: { readonly path: string; readonly message: Message }[]
  /** @param times how often it was asked for, from 1 */
  fate: (question: Message, times: number) => Fate
  /** Lines of the file of a day; left out: what ended on it. */
  file: ((day: string) => readonly string[] | null) | null
  /** So many lines are in a part of a file. */
  partLines: number
  /** Instead of an honest answer. */
  answer: ((path: string, question: Message) => unknown) | null
  /** As the bank would send it now. */
  message(payout_id: string): Message
  /** Accepts a payment. */
  take(payout_id: string, amount: string, to?: Pick<BankPayment, 'holder' | 'account'>): BankPayment
  end(payout_id: string, status: 'done' | 'failed' | 'returned', reason?: string): void
  close(): Promise<void>
}

const dayOf = (at: Date): string => new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 10)

/** A channel of payouts on this machine, over real HTTP: the other side of docs/payout-channel.md. */
export async function startBank(keys: SigningKeys, merchant_id: string, now: () => Date): Promise<TestBank> {
  const told = ({ payout_id, trade_id, amount, status, reason, at }: BankPayment): Message => ({
    payout_id,
    amount,
    status,
    ...(status !== 'accepted' && { trade_id, at: (at ?? now()).toISOString() }),
    ...(reason !== '' && { reason }),
  })
  const times = new Map<string, number>()
  const linesOf = (day: string): readonly string[] =>
    bank.file?.(day) ??
    [...bank.payments.values()].flatMap(({ payout_id, trade_id, amount, ended }) =>
      ended.flatMap(({ status, at }) => (dayOf(at) === day ? [[payout_id, trade_id, amount, status, at.toISOString()].join(',')] : [])),
    )
  const answers: Readonly<Record<string, (question: Message) => Message | null>> = {
    payouts: (question) => {
      const { payout_id = '', amount = '', holder = '', account = '' } = question
      const count = (times.get(payout_id) ?? 0) + 1
      times.set(payout_id, count)
      const fate = bank.fate(question, count)
      if (fate.answer === 'lost') return null
      // The key again is the same payment.
      const known = bank.payments.get(payout_id)
      const payment = known ?? bank.take(payout_id, amount, { holder, account })
      if (known === undefined && fate.ends !== undefined) bank.end(payout_id, fate.ends, fate.ends === 'failed' ? '账户不存在' : '')
      return fate.answer === 'silent' ? null : told(payment)
    },
    query: ({ payout_id = '' }) => {
      const payment = bank.payments.get(payout_id)
      return payment === undefined ? { payout_id, amount: '0', status: 'unknown' } : told(payment)
    },
    statements: ({ day = '', part = '1' }) => {
      const lines = linesOf(day)
      const parts = Math.max(1, Math.ceil(lines.length / bank.partLines))
      const own = lines.slice((Number(part) - 1) * bank.partLines, Number(part) * bank.partLines)
      return { day, part, parts: String(parts), file: ['payout_id,trade_id,amount,status,at', ...own, ''].join('\n') }
    },
  }
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url?.replace('/bank/', '') ?? ''
      const message = (await json(request)) as Message
      bank.asked.push({ path, message })
      if (answers[path] === undefined || !isSigned(message, keys)) return response.writeHead(403).end()
      const liar = bank.answer?.(path, message)
      const own = answers[path](message)
      if (liar === undefined && own === null) return request.socket.destroy()
      const answer = liar ?? signed({ merchant_id, ...own }, keys, now(), message['nonce'])
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bank: TestBank = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/bank/`,
    payments: new Map(),
    asked: [],
    fate: () => ({ ends: 'done' }),
    file: null,
    partLines: 5_000,
    answer: null,
    message: (payout_id) => {
      const payment = bank.payments.get(payout_id)
      if (payment === undefined) throw new Error(`the bank knows no ${payout_id}`)
      return signed({ merchant_id, ...told(payment) }, keys, now())
    },
    take: (payout_id, amount, to = { holder: '', account: '' }) => {
      const payment: BankPayment = { payout_id, trade_id: `T-${bank.payments.size + 1}`, amount, ...to, status: 'accepted', reason: '', at: null, ended: [] }
      bank.payments.set(payout_id, payment)
      return payment
    },
    end: (payout_id, status, reason = '') => {
      const payment = bank.payments.get(payout_id)
      if (payment === undefined) throw new Error(`the bank knows no ${payout_id}`)
      const at = now()
      Object.assign(payment, { status, reason, at })
      payment.ended.push({ status, at })
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return bank
}
