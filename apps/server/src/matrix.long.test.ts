import { allCalls } from '@zhisuan/contract/calls'
import { describe } from 'vitest'
import { customPolicies, declaredAccess, underlyingActions } from './matrix.sweep.ts'

describe('permission matrix: who may make which call, as declared', () => declaredAccess(allCalls))

describe('permission matrix: custom policies, as the reference implementation reads them', () => customPolicies(allCalls))

describe('permission matrix: what a call does besides has to be allowed too', () => underlyingActions(allCalls))
