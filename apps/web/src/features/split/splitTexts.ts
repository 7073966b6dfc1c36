import { splitBankDetails, type BankStatus } from '@zhisuan/contract/split/bank'
import { splitContracts, type splitMeters, splitRuns, type ContractStatus, type RunStatus, type SplitTerms } from '@zhisuan/contract/split/contract'
import { splitPayouts, type PayoutStatus } from '@zhisuan/contract/split/payout'
import { splitCases, splitReconciliations, type CaseStatus } from '@zhisuan/contract/split/reconciliation'
import { splitProviders, type SplitProvider } from '@zhisuan/contract/split/provider'
import type { StatusTone } from '../../kit/StatusTag.tsx'

export const runTones: Readonly<Record<RunStatus, StatusTone>> = { stated: 'warning', disputed: 'bad', confirmed: 'busy', paid: 'good' }
export const contractTones: Readonly<Record<ContractStatus, StatusTone>> = { draft: 'rest', active: 'good', ended: 'rest' }
export const providerTones: Readonly<Record<SplitProvider['status'], StatusTone>> = { pending: 'warning', verified: 'good', disabled: 'bad' }

export const bankTones: Readonly<Record<BankStatus, StatusTone>> = { waiting: 'warning', current: 'good', past: 'rest', withdrawn: 'rest' }
export const payoutTones: Readonly<Record<PayoutStatus, StatusTone>> = {
  asked: 'warning',
  claimed: 'busy',
  sent: 'busy',
  done: 'good',
  failed: 'bad',
  returned: 'bad',
  withdrawn: 'rest',
}
export const caseTones: Readonly<Record<CaseStatus, StatusTone>> = { open: 'bad', proposed: 'warning', closed: 'good' }

export const invalidatedBySplit = [
  splitContracts.list,
  splitContracts.get,
  splitRuns.list,
  splitRuns.get,
  splitProviders.list,
  splitProviders.get,
  splitPayouts.list,
  splitPayouts.balance,
]

/** What is no longer true where money went, or where it is to go. */
export const invalidatedByPayout = [...invalidatedBySplit, splitBankDetails.list, splitCases.list, splitReconciliations.list]

/** What of a machine was used. */
export const meterText = (t: (key: 'meter.card' | 'meter.disk' | 'meter.stoppedDisk') => string, meter: (typeof splitMeters)[number]): string =>
  t(({ 'market.card': 'meter.card', 'market.disk': 'meter.disk', 'market.stoppedDisk': 'meter.stoppedDisk' } as const)[meter])

/** Millionths as people write them: `70` for 700,000. */
export const percentOf = (part: number): string => String(part / 10_000)

/** Terms as a form has them: parts as text in percent. */
export interface TermsValues {
  provider: string
  agents: { name: string }[]
  steps: { above: string; parts: string[] }[]
  models: string[]
  floor: string
  cap: string
  confirm_days: number
}
export const noTerms: TermsValues = { provider: '', agents: [], steps: [{ above: '0', parts: ['30', '70'] }], models: [], floor: '', cap: '', confirm_days: 7 }

export const termsValues = ({ parties, steps, models, floor, cap, confirm_days }: SplitTerms): TermsValues => ({
  provider: parties[1]?.name ?? '',
  agents: parties.slice(2).map(({ name }) => ({ name })),
  steps: steps.map(({ above, parts }) => ({ above, parts: parts.map(percentOf) })),
  models,
  floor: floor ?? '',
  cap: cap ?? '',
  confirm_days,
})

/** The same as the server takes it; what is no number it refuses. @param platform what the platform is called */
export const termsOf = ({ provider, agents, steps, models, floor, cap, confirm_days }: TermsValues, platform: string, providerName: string) => ({
  parties: [
    { kind: 'platform' as const, name: platform },
    { kind: 'provider' as const, name: provider === '' ? providerName : provider },
    ...agents.map(({ name }) => ({ kind: 'agent' as const, name })),
  ],
  steps: steps.map(({ above, parts }) => ({
    above,
    parts: Array.from({ length: agents.length + 2 }, (_, index) => Math.round(Number(parts[index] ?? '0') * 10_000)),
  })),
  models,
  floor: floor === '' ? null : floor,
  cap: cap === '' ? null : cap,
  confirm_days,
})
