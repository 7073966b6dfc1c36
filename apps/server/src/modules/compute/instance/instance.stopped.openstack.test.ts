import { it } from 'vitest'
import { describeStates } from './instance.statesTesting.ts'

describeStates('what may be done to an instance that is off, or failed', '10.80.0', (walk) => {
  it.concurrent.each(['stopped', 'error', 'create_failed'] as const)('%s: Nova does what the table allows, and is not asked for the rest', (state) =>
    walk.walks(state),
  )
})
