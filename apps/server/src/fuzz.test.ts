import { describe } from 'vitest'
import { malformedInput } from './fuzz.sweep.ts'
import { callsOfToday } from './testing/callsOfToday.ts'

const today = await callsOfToday()

describe('malformed input', () => malformedInput(today))
