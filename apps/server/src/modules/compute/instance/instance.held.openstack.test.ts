import { it } from 'vitest'
import { describeStates } from './instance.statesTesting.ts'

describeStates('what may be done to an instance that is held', '10.79.16', (walk) => {
  it.concurrent.each(['paused', 'suspended'] as const)('%s: Nova does what the table allows, and is not asked for the rest', (state) => walk.walks(state))
})
