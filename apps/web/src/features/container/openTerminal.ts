import { containers } from '@zhisuan/contract/cis/container'
import { errors } from '@zhisuan/contract/errors'
import { ApiError, noAnswer, request, toApiError } from '../../api/client.ts'
import type { TerminalProps } from '../../kit/Terminal.tsx'

/**
 * How the terminal of the kit opens one in a container. There it is one at a time for everybody, and
 * none is taken over: whoever had one in this tab comes back to it, others are told.
 * @param taken what is said where somebody else has it
 */
export const openTerminal =
  (id: string, command: readonly string[], taken: string): TerminalProps['open'] =>
  async ({ columns, rows, terminal_id }) => {
    try {
      const opened = await request(containers.terminal, {
        params: { id },
        body: { command: [...command], cols: columns, rows, ...(terminal_id !== undefined && { terminal_id }) },
      })
      return { terminal_id: opened.terminal_id, socket_path: opened.path }
    } catch (thrown) {
      throw judged(toApiError(thrown), taken)
    }
  }

/** That somebody else has it; all else as it is. */
export function judged(error: ApiError, taken: string): ApiError {
  if (error.code !== errors.terminalOpen.code) return error
  return new ApiError({
    status: error.status,
    code: noAnswer.foreign,
    message: taken,
    requestId: error.requestId,
    method: error.method,
    path: error.path,
    cause: error,
  })
}
