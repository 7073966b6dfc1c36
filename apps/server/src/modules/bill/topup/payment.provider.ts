import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { SignType } from '@zhisuan/contract/bill/topup'
import { z } from 'zod'
import { createProviderFetch } from '../../../platform/outbound/provider.ts'
import { isSigned, signed, type SigningKeys } from '../../../platform/outbound/signed-messages.ts'

/** What somebody is to pay. */
export interface PaymentOrder {
  readonly code: string
  /** Minor units. */
  readonly amount: bigint
  readonly subject: string
  readonly expires_at: Date
}

/** What a provider says of a payment. */
export interface Payment {
  readonly code: string
  /** What the provider calls it; empty while nothing was paid. */
  readonly reference: string
  readonly amount: bigint
  /** `unknown`: nobody has come to pay yet. */
  readonly status: 'paid' | 'waiting' | 'closed' | 'unknown'
}

/** Who takes payments for the platform. None gives money back: that is done where it was paid. */
export interface PaymentProvider {
  /** Where the payer goes. */
  create(order: PaymentOrder): string
  /** Reads what claims to come from the provider. @throws PaymentRejected */
  verify(message: unknown): Payment
  /** @throws PaymentRejected, AddressForbidden, ProviderUnreachable */
  ask(code: string): Promise<Payment>
}

/** A message of a gateway that is not believed. Its text is for logs, and holds nothing secret. */
export class PaymentRejected extends Error {}

export interface GatewaySettings extends SigningKeys {
  readonly gateway: string
  readonly merchant_id: string
  readonly sign_type: SignType
}

/** Messages are signed when they are sent, again at each try, so an old one is somebody else's copy. */
const mostAgeMs = 15 * 60_000

const text = z.string().max(1024)
const message = z.record(z.string().max(64), text)
const paymentMessage = z.object({
  merchant_id: text,
  order_id: text,
  trade_id: z.string().max(64).default(''),
  amount: z.string().regex(/^\d{1,12}(\.\d{1,2})?$/),
  status: z.enum(['paid', 'waiting', 'closed', 'unknown']),
  timestamp: z.iso.datetime({ offset: true }),
  nonce: z.string().min(8).max(128),
})

/** The protocol of docs/payment-gateway.md: a signed redirection there, signed messages back. */
export function createSignedGateway(
  settings: GatewaySettings,
  about: { notify_url: string | null; return_url: string | null; now: () => Date; development: boolean },
): PaymentProvider {
  const { notify_url, return_url, now } = about
  const base = settings.gateway.replace(/\/+$/, '')
  const fetch = createProviderFetch(new URL(settings.gateway), about.development)

  const read = (given: unknown): Payment & { nonce: string } => {
    const whole = message.safeParse(given)
    if (!whole.success) throw new PaymentRejected('not a message of text fields')
    // Before anything in it is believed.
    if (!isSigned(whole.data, settings)) throw new PaymentRejected('the signature is wrong')
    const parsed = paymentMessage.safeParse(whole.data)
    if (!parsed.success) throw new PaymentRejected(`wrong fields: ${parsed.error.issues.map(({ path }) => path.join('.')).join(', ')}`)
    const { merchant_id, order_id, trade_id, amount, status, timestamp, nonce } = parsed.data
    if (merchant_id !== settings.merchant_id) throw new PaymentRejected('another merchant')
    if (Math.abs(now().getTime() - Date.parse(timestamp)) > mostAgeMs) throw new PaymentRejected('signed at another time')
    if (status === 'paid' && trade_id === '') throw new PaymentRejected('paid without a trade_id')
    return { code: order_id, reference: trade_id, amount: toMinor(amount), status, nonce }
  }

  return {
    create({ code, amount, subject, expires_at }) {
      const asked = signed(
        {
          merchant_id: settings.merchant_id,
          order_id: code,
          amount: toDecimal(amount),
          currency: 'CNY',
          subject,
          expires_at: expires_at.toISOString(),
          ...(notify_url !== null && { notify_url }),
          ...(return_url !== null && { return_url }),
        },
        settings,
        now(),
      )
      return `${base}/pay?${new URLSearchParams(asked)}`
    },

    verify: read,

    async ask(code) {
      const asked = signed({ merchant_id: settings.merchant_id, order_id: code }, settings, now())
      const response = await fetch(`${base}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(asked),
      })
      if (!response.ok) throw new PaymentRejected(`answered ${response.status}`)
      const { nonce, ...payment } = read(await response.json().catch(() => null))
      // The answer to this very question, and about this order.
      if (nonce !== asked.nonce) throw new PaymentRejected('the answer to another question')
      if (payment.code !== code) throw new PaymentRejected('an answer about another order')
      return payment
    },
  }
}
