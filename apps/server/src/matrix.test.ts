import { describe } from 'vitest'
import { customPolicies, declaredAccess, underlyingActions } from './matrix.sweep.ts'
import { callsOfToday } from './testing/callsOfToday.ts'

const today = await callsOfToday()

describe('permission matrix: who may make which call, as declared', () => declaredAccess(today))

describe('permission matrix: custom policies, as the reference implementation reads them', () => customPolicies(today))

describe('permission matrix: what a call does besides has to be allowed too', () => underlyingActions(today))
