import type { outcomes } from '@zhisuan/contract/iam/decision'
import { roles, type Role } from '@zhisuan/contract/roles'
import type { TFunction } from 'i18next'
import type { StatusTone } from '../../kit/StatusTag.tsx'

export type Outcome = (typeof outcomes)[number]

export const outcomeTone = (outcome: Outcome): StatusTone =>
  outcome === 'allowed' ? 'good' : outcome === 'implicitDeny' || outcome === 'role' ? 'rest' : 'bad'

/** A statement as an answer names it. */
export interface Place {
  readonly policy_id: string
  readonly policy_name: string
  readonly index: number
  readonly sid: string | null
}

const isRole = (text: string): text is Role => (roles as readonly string[]).includes(text)

/** Whether the rule is built in, so that no policy stands behind it. */
export const isBuiltIn = ({ policy_id }: Pick<Place, 'policy_id'>): boolean =>
  policy_id.startsWith('role:') || policy_id === 'everybody' || policy_id === 'system'

/** Whose statement it is, in words. */
export function policyText(t: TFunction<['iam', 'kit']>, { policy_id, policy_name }: Place): string {
  const role = policy_id.replace(/^role:/, '')
  if (policy_id.startsWith('role:') && isRole(role)) return t('decision.builtInPolicy', { role: t(`kit:roleNames.${role}`) })
  if (policy_id === 'everybody') return t('decision.everybodyPolicy')
  return policy_id === 'system' ? t('decision.systemPolicy') : policy_name
}

/** 第 1 条（Careful）. */
export const statementText = (t: TFunction<['iam', 'kit']>, { index, sid }: Place): string =>
  sid === null ? t('decision.statement', { number: index + 1 }) : t('decision.statementSid', { number: index + 1, sid })
