import { z } from 'zod'
import { EngineError } from '../errors.ts'
import { signalOf } from './containers.ts'
import { framesTaken, type Output } from './frames.ts'
import { refusalOf, through, wholeOf, type DockerAsker } from './transport.ts'
import type { Execs } from './types.ts'

const created = z.object({ Id: z.string() })
const inspected = z.object({ Running: z.boolean(), ExitCode: z.number().nullish(), Pid: z.number().nullish() })
const defaultLimitBytes = 2 ** 20

export function createExecs(asker: DockerAsker): Execs {
  const create: Execs['create'] = async (containerId, spec, options = {}) => {
    const { Id } = await asker.json(created, {
      method: 'POST',
      path: `/containers/${encodeURIComponent(containerId)}/exec`,
      body: {
        AttachStdin: spec.stdin === true,
        AttachStdout: true,
        AttachStderr: true,
        Tty: spec.tty === true,
        Cmd: spec.command,
        Env: Object.entries(spec.env ?? {}).map(([name, value]) => `${name}=${value}`),
        User: spec.user,
        WorkingDir: spec.workingDir,
      },
      // Nothing runs before it is joined.
      changes: false,
      ...signalOf(options),
    })
    return Id
  }
  const attach: Execs['attach'] = async (execId, { tty, signal }) => {
    const { status, stream } = await asker.transport.attach(execId, { tty, ...signalOf({ signal }) })
    if (status === 200) return stream
    throw refusalOf('/exec', status, await wholeOf('/exec', stream))
  }
  const inspect: Execs['inspect'] = async (execId, options = {}) => {
    const { Running, ExitCode, Pid } = await asker.json(inspected, { path: `/exec/${encodeURIComponent(execId)}/json`, ...signalOf(options) })
    return { running: Running, exitCode: Running ? null : (ExitCode ?? null), pid: Pid ?? 0 }
  }
  return {
    create,
    attach,
    inspect,
    resize: (execId, { columns, rows }, options = {}) =>
      asker.done({ method: 'POST', path: `/exec/${encodeURIComponent(execId)}/resize?h=${rows}&w=${columns}`, changes: false, ...signalOf(options) }),
    async run(containerId, spec, options = {}) {
      const limitBytes = options.limitBytes ?? defaultLimitBytes
      const id = await create(containerId, spec, options)
      const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
      let size = 0
      for await (const { from, data } of through(
        '/exec',
        await attach(id, { tty: false, ...signalOf(options) }),
        framesTaken(),
        options.signal,
      ) as AsyncIterable<Output>) {
        size += data.length
        if (size > limitBytes) throw new EngineError('bad_answer', `${spec.command[0] ?? ''} said more than ${limitBytes} bytes`)
        said[from].push(data)
      }
      const { exitCode } = await inspect(id, options)
      return { exitCode: exitCode ?? -1, stdout: Buffer.concat(said.stdout), stderr: Buffer.concat(said.stderr) }
    },
  }
}
