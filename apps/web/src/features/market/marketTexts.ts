import type { Card } from '@zhisuan/contract/market/card'
import type { Offer } from '@zhisuan/contract/market/offer'
import type { Provider } from '@zhisuan/contract/market/provider'
import type { Rental } from '@zhisuan/contract/market/rental'
import type { StatusTone } from '../../kit/StatusTag.tsx'

export const providerTones = { pending: 'busy', verified: 'good', disabled: 'bad' } as const satisfies Record<Provider['status'], StatusTone>
export const offerTones = { proposed: 'busy', listed: 'good', paused: 'rest', rejected: 'bad', ended: 'rest' } as const satisfies Record<
  Offer['status'],
  StatusTone
>
export const cardTones = { free: 'good', rented: 'busy', sick: 'bad', away: 'warning', unlisted: 'rest', elsewhere: 'bad' } as const satisfies Record<
  Card['state'],
  StatusTone
>
export const rentalTones = {
  placing: 'busy',
  running: 'good',
  stopping: 'busy',
  stopped: 'rest',
  starting: 'busy',
  releasing: 'busy',
  released: 'rest',
  failed: 'bad',
} as const satisfies Record<Rental['status'], StatusTone>
