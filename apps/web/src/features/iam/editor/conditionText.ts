import { operatorParts, type ConditionOperator } from '@zhisuan/contract/policy/document'
import { contextKeys, type KeyType } from '@zhisuan/contract/policy/keys'
import type { TFunction } from 'i18next'
import type { Vocabulary } from '../../../kit/useVocabulary.ts'

type T = TFunction<'iam'>

/** What people call a condition's key; of a tag with the tag's. */
export function conditionKeyText(t: T, key: string, custom: Vocabulary['keys'] = []): string {
  // Every key of the contract has its text, without the prefix.
  if (Object.hasOwn(contextKeys, key)) return t(`key.${key.replace(/^zs:/, '') as 'UserId'}`)
  const [prefix, tag = ''] = key.split(/\/(.*)/s)
  if (prefix === 'zs:ResourceTag') return `${t('tagKeys.resource')} ${tag}`.trim()
  return prefix === 'zs:RequestTag' ? `${t('tagKeys.request')} ${tag}`.trim() : custom.find((one) => one.key === key)?.description || key
}

/** How values of a key compare: 数字. */
export const keyTypeText = (t: T, type: KeyType): string => t(`service.keyType.${type}`)

export const plainOperatorText = (t: T, operator: ConditionOperator): string => t(`operators.${operator}`)

/** `ForAnyValue:StringLikeIfExists` in words; what is none as it is. */
export function operatorText(t: T, written: string): string {
  const parts = operatorParts(written)
  if (parts === undefined) return written
  return `${parts.set === null ? '' : t(`sets.${parts.set}`)}${plainOperatorText(t, parts.operator)}`
}
