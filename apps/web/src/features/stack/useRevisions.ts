import { stacks, type Stack } from '@zhisuan/contract/aos/stack'
import { useCall } from '../../api/hooks.ts'

/** What a stack was made from, now and before. Nothing of it changes by itself: it is read when there is another revision. */
export function useRevisions({ id, revision }: Pick<Stack, 'id' | 'revision'>) {
  return useCall(
    stacks.composeConfig,
    { params: { id } },
    { silent: true, refreshMs: (data) => (data === undefined || data.revisions[0]?.revision === revision ? false : 1_000) },
  )
}
