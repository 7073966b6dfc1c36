import { describe } from 'vitest'
import { customPolicies, declaredAccess } from './matrix.sweep.ts'
import { callsOfToday } from './testing/callsOfToday.ts'

const today = await callsOfToday()

describe('permission matrix: who may make which call, as declared', () => declaredAccess(today))

describe('permission matrix: custom policies, as the reference implementation reads them', () => customPolicies(today))
