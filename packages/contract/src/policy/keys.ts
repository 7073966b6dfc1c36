import type { ConditionOperator } from './document.ts'

/** How values of a key compare. */
export type KeyType = 'text' | 'number' | 'moment' | 'boolean' | 'address'

/** What every request says of itself, for conditions and variables. Those of people are absent for jobs. */
export const contextKeys = {
  'zs:UserId': 'text',
  'zs:UserName': 'text',
  /** 0 to 4, see roles.ts. */
  'zs:UserKind': 'number',
  'zs:OrganisationId': 'text',
  /** The client's address, IPv4 or IPv6. */
  'zs:SourceIp': 'address',
  'zs:CurrentTime': 'moment',
  /** When this session was begun by signing in. */
  'zs:TokenIssueTime': 'moment',
  /** Whether a second factor was proved in this session. */
  'zs:MfaPresent': 'boolean',
  /** Seconds since then; absent without one. */
  'zs:MfaAge': 'number',
  /** `password`, `sms`, `passkey`, `oidc` or `access_key`. */
  'zs:AuthenticatedBy': 'text',
  'zs:UserAgent': 'text',
} as const satisfies Record<string, KeyType>
export type ContextKey = keyof typeof contextKeys

/** Followed by the key of a tag: of the resource as it is, and of what the request would make of it. */
export const tagPrefixes = ['zs:ResourceTag/', 'zs:RequestTag/'] as const
export type TagPrefix = (typeof tagPrefixes)[number]

/** Undefined for what no request says. */
export function keyType(key: string): KeyType | undefined {
  if (Object.hasOwn(contextKeys, key)) return contextKeys[key as ContextKey]
  return tagPrefixes.some((prefix) => key.startsWith(prefix) && key.length > prefix.length) ? 'text' : undefined
}

/** Whether an operator compares values of this kind; text can be read as anything. */
export function comparesType(operator: ConditionOperator, type: KeyType): boolean {
  if (operator === 'Null' || type === 'text') return true
  if (operator.startsWith('String')) return type === 'address' ? false : type !== 'moment'
  const compared: KeyType = operator.startsWith('Numeric') ? 'number' : operator.startsWith('Date') ? 'moment' : operator === 'Bool' ? 'boolean' : 'address'
  return compared === type
}
