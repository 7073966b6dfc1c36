import { it } from 'vitest'
import { describeStates } from './instance.statesTesting.ts'

describeStates('what may be done to an instance that is put away, rescued or moved', '10.79.32', (walk) => {
  it.concurrent.each(['shelved', 'rescued', 'resized'] as const)('%s: Nova does what the table allows, and is not asked for the rest', (state) =>
    walk.walks(state),
  )
})
