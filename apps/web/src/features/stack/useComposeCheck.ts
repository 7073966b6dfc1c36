import { stacks, type StackFile } from '@zhisuan/contract/aos/stack'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useCall } from '../../api/hooks.ts'
import { useSettled } from '../../kit/useSettled.ts'

/** Typing goes on for a while: the file is judged when it rests. */
const restMs = 500

/**
 * What is wrong with a compose file, as it is typed; undefined before anything is known, and for no text at all.
 * @param of what lies beside it, which of a template nobody knows yet, and what a template declares
 */
export function useComposeCheck(
  compose: string,
  of: { readonly configs?: readonly StackFile[]; readonly template?: true; readonly declared?: readonly string[] | undefined },
): ResponseOf<typeof stacks.validate> | undefined {
  const settled = useSettled(JSON.stringify({ compose, ...of }), restMs)
  // As it was written just above.
  const body = JSON.parse(settled) as { compose: string; configs?: StackFile[]; template?: boolean; declared?: string[] }
  const whole = stacks.validate.body.safeParse(body)
  const asked = whole.success && body.compose.trim() !== ''
  const { data } = useCall(stacks.validate, { body }, { silent: true, enabled: asked })
  return asked && compose.trim() !== '' ? data : undefined
}
