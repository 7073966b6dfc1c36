import { createHash } from 'node:crypto'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { SignType } from '@zhisuan/contract/bill/topup'
import { z } from 'zod'
import { createProviderFetch } from '../../../platform/outbound/provider.ts'
import { isSigned, signed, type Message, type SigningKeys } from '../../../platform/outbound/signed-messages.ts'
import type { BankAccount } from '../bank/bank.service.ts'

/** What the channel says of a payout. */
export interface PayoutAnswer {
  /** Our id of it, which is the key that it is paid under once. */
  readonly payout_id: string
  /** Minor units. */
  readonly amount: bigint
  /** `unknown`: the channel was never asked for it. */
  readonly status: 'unknown' | 'accepted' | 'done' | 'failed' | 'returned'
  /** What the channel calls the payment. */
  readonly reference: string
  readonly reason: string
  /** When that came to be, as the channel says; null of what has not ended. */
  readonly at: Date | null
}

/** A line of the channel's file of a day: what ended on it. */
export interface StatementRow {
  /** As the channel has it: it may be none of ours. */
  readonly payout_id: string
  readonly reference: string
  readonly amount: bigint
  readonly status: 'done' | 'failed' | 'returned'
  readonly at: Date
}
export interface ChannelStatement {
  readonly rows: readonly StatementRow[]
  /** SHA-256 of the file. */
  readonly hash: string
}

/** Who pays providers for the platform. */
export interface PayoutChannelClient {
  /** Asks for a payment; the same payout again is the same payment. @throws PayoutRejected, AddressForbidden, ProviderUnreachable */
  send(payout: { readonly id: string; readonly amount: bigint; readonly purpose: string }, to: BankAccount): Promise<PayoutAnswer>
  /** @throws PayoutRejected, AddressForbidden, ProviderUnreachable */
  ask(id: string): Promise<PayoutAnswer>
  /** The file of a day of Beijing. @throws PayoutRejected, AddressForbidden, ProviderUnreachable */
  statement(day: string): Promise<ChannelStatement>
  /** Reads what claims to come from the channel. @throws PayoutRejected */
  verify(message: unknown): PayoutAnswer & { readonly nonce: string }
}

/** A message of the channel that is not believed. Its text is for logs, and holds nothing secret. */
export class PayoutRejected extends Error {}

export interface ChannelSettings extends SigningKeys {
  readonly gateway: string
  readonly merchant_id: string
  readonly sign_type: SignType
}

/** Messages are signed when they are sent, again at each try, so an old one is somebody else's copy. */
export const mostAgeMs = 15 * 60_000
/** A file comes in parts, of which there are so many at most. */
const partsMost = 200
const fileHead = 'payout_id,trade_id,amount,status,at'

const text = z.string().max(1024)
const amount = z.string().regex(/^\d{1,12}(\.\d{1,2})?$/)
const proven = { merchant_id: text, timestamp: z.iso.datetime({ offset: true }), nonce: z.string().min(8).max(128) }
const answerMessage = z.object({
  ...proven,
  payout_id: z.uuid(),
  trade_id: z.string().max(64).default(''),
  amount,
  status: z.enum(['unknown', 'accepted', 'done', 'failed', 'returned']),
  reason: z.string().max(255).default(''),
  at: z.iso.datetime({ offset: true }).optional(),
})
const partMessage = z.object({
  ...proven,
  day: z.string(),
  part: z.string().regex(/^\d{1,3}$/),
  parts: z.string().regex(/^[1-9]\d{0,2}$/),
  /** CSV. */
  file: z.string().max(900_000),
})
const row = z.tuple([z.string().min(1).max(64), z.string().max(64), amount, z.enum(['done', 'failed', 'returned']), z.iso.datetime({ offset: true })])

/** The protocol of docs/payout-channel.md. */
export function createPayoutChannelClient(
  settings: ChannelSettings,
  { notify_url, now, development }: { notify_url: string | null; now: () => Date; development: boolean },
): PayoutChannelClient {
  const base = settings.gateway.replace(/\/+$/, '')
  const fetch = createProviderFetch(new URL(settings.gateway), development)

  const read = <Shape extends z.ZodType<z.output<z.ZodObject<typeof proven>>>>(shape: Shape, given: unknown, mostText: number): z.output<Shape> => {
    const whole = z.record(z.string().max(64), z.string().max(mostText)).safeParse(given)
    if (!whole.success) throw new PayoutRejected('not a message of text fields')
    // Before anything in it is believed.
    if (!isSigned(whole.data, settings)) throw new PayoutRejected('the signature is wrong')
    const parsed = shape.safeParse(whole.data)
    if (!parsed.success) throw new PayoutRejected(`wrong fields: ${parsed.error.issues.map(({ path }) => path.join('.')).join(', ')}`)
    if (parsed.data.merchant_id !== settings.merchant_id) throw new PayoutRejected('another merchant')
    if (Math.abs(now().getTime() - Date.parse(parsed.data.timestamp)) > mostAgeMs) throw new PayoutRejected('signed at another time')
    return parsed.data
  }
  const readAnswer = (given: unknown): PayoutAnswer & { nonce: string } => {
    const { payout_id, trade_id, amount: said, status, reason, at, nonce } = read(answerMessage, given, 1024)
    const over = status === 'done' || status === 'failed' || status === 'returned'
    if (status !== 'failed' && over && trade_id === '') throw new PayoutRejected('paid without a trade_id')
    if (over && at === undefined) throw new PayoutRejected('without the moment when it ended')
    return { payout_id, amount: toMinor(said), status, reference: trade_id, reason, at: at === undefined ? null : new Date(at), nonce }
  }
  /** @param parse of the answer, which has to be to this very question */
  const post = async <Answer extends { nonce: string }>(path: string, message: Message, parse: (answer: unknown) => Answer): Promise<Answer> => {
    const asked = signed({ merchant_id: settings.merchant_id, ...message }, settings, now())
    const response = await fetch(`${base}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(asked),
    })
    if (!response.ok) throw new PayoutRejected(`answered ${response.status}`)
    const answer = parse(await response.json().catch(() => null))
    if (answer.nonce !== asked.nonce) throw new PayoutRejected('the answer to another question')
    return answer
  }
  const about = async (path: string, id: string, message: Message): Promise<PayoutAnswer> => {
    const answer = await post(path, { payout_id: id, ...message }, readAnswer)
    if (answer.payout_id !== id) throw new PayoutRejected('an answer about another payout')
    return answer
  }

  return {
    send: ({ id, amount: minor, purpose }, { holder, bank, account }) =>
      about('payouts', id, {
        amount: toDecimal(minor),
        currency: 'CNY',
        holder,
        bank,
        account,
        purpose,
        ...(notify_url !== null && { notify_url }),
      }),

    ask: (id) => about('query', id, {}),

    async statement(day) {
      const hash = createHash('sha256')
      const rows: StatementRow[] = []
      for (let part = 1; ; part++) {
        const answer = await post('statements', { day, part: String(part) }, (given) => read(partMessage, given, 900_000))
        if (answer.day !== day || answer.part !== String(part) || Number(answer.parts) > partsMost) throw new PayoutRejected('another part of a file')
        hash.update(answer.file)
        rows.push(...rowsOf(answer.file))
        if (part >= Number(answer.parts)) return { rows, hash: hash.digest('hex') }
      }
    },

    verify: readAnswer,
  }
}

/** Of a part of a file. @throws PayoutRejected */
function rowsOf(file: string): StatementRow[] {
  const [head, ...lines] = file.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (head !== fileHead) throw new PayoutRejected('a file with other columns')
  return lines.flatMap((line, index) => {
    if (line === '') return []
    const parsed = row.safeParse(line.split(','))
    if (!parsed.success) throw new PayoutRejected(`line ${index + 2} of a file is none`)
    const [payout_id, reference, said, status, at] = parsed.data
    return [{ payout_id, reference, amount: toMinor(said), status, at: new Date(at) }]
  })
}
