import { allCalls } from '@zhisuan/contract/calls'
import { describe } from 'vitest'
import { malformedInput } from './fuzz.sweep.ts'

describe('malformed input', () => malformedInput(allCalls))
