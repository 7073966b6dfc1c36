import { errors } from '@zhisuan/contract/errors'
import { noAnswer, toApiError } from './client.ts'
import { notify } from './notify.ts'
import { errorText } from './toasts.ts'

/**
 * Says what a call failed with. Those of containers and deployments are never toasted by the client,
 * as specified: whoever asked for something is told here. What ends the session, and refused fields,
 * which forms and actions show, are told elsewhere.
 */
export function tellError(thrown: unknown): void {
  const error = toApiError(thrown)
  if (error.status === 401 || error.code === noAnswer.aborted || error.code === errors.fieldsInvalid.code) return
  notify('error', errorText(error), 5_000)
}

/** What a call answers; where it fails, that is said, and it fails still. */
export async function told<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (thrown) {
    tellError(thrown)
    throw thrown
  }
}
