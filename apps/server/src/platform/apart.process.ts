import type { Asked, Tasks, Told } from './apart.ts'
import { Refusal } from './errors.ts'

/** Serves tasks to whoever made this process (apart.ts). The one thing that such a process's own module does. */
export function serveApart(tasks: Tasks): void {
  const say = (said: Told | 'ready'): void => {
    process.send?.(said)
  }
  const answer = async ({ task, input }: Asked): Promise<Told> => {
    try {
      // Both sides have them of one type.
      const act = tasks[task] as ((input: unknown) => unknown) | undefined
      if (act === undefined) throw new Error(`no task ${task}`)
      return { output: await act(input) }
    } catch (error) {
      if (!(error instanceof Refusal)) return { error }
      const { refusal, values, fields, detail, message } = error
      return { refusal, options: { values: { ...values }, ...(fields !== undefined && { fields: fields.map((one) => ({ ...one })) }), detail, message } }
    }
  }
  process.on('message', (asked: Asked) => void answer(asked).then(say))
  say('ready')
}
