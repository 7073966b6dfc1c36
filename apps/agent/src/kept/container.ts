import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeptWish } from '@zhisuan/contract/agent/kept'
import type { Account } from './accounts.ts'
import type { Docker } from './docker.ts'
import type { Exit } from './native.ts'
import { markName } from './processes.ts'

/** Names what is ours on a Docker that others use too. */
export const keptLabel = 'zhisuan.kept'
const pollMs = 100

export type ImageWish = KeptWish & { readonly program: { readonly kind: 'image' } }
export const isImage = (wish: KeptWish): wish is ImageWish => wish.program.kind === 'image'

export interface ContainerStart {
  readonly wish: ImageWish
  readonly digest: string
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly files: string
  readonly data: string | null
  readonly account: Account | null
}

/** The body by which Docker makes it. */
function bodyOf({ wish, digest, files, data, account, ...start }: ContainerStart, mark: string): unknown {
  const { program, ports, log, stop } = wish
  const key = ({ inside, port, protocol }: KeptWish['ports'][number]): string => `${inside ?? port}/${protocol}`
  const published = program.network === 'bridge' ? ports : []
  return {
    Image: program.image,
    Cmd: start.arguments,
    ...(program.entrypoint && { Entrypoint: program.entrypoint }),
    Env: Object.entries({ ...start.environment, [markName]: mark }).map(([name, value]) => `${name}=${value}`),
    Labels: { [keptLabel]: mark, [`${keptLabel}.digest`]: digest },
    StopSignal: stop.signal,
    ...(account !== null && { User: `${account.uid}:${account.gid}` }),
    ExposedPorts: Object.fromEntries(published.map((one) => [key(one), {}])),
    HostConfig: {
      NetworkMode: program.network,
      PortBindings: Object.fromEntries(published.map((one) => [key(one), [{ HostIp: one.address, HostPort: String(one.port) }]])),
      Mounts: [
        { Type: 'bind', Source: files, Target: program.files_at, ReadOnly: true },
        ...(data === null ? [] : [{ Type: 'bind', Source: data, Target: program.data_at }]),
      ],
      // The agent starts it again, and tells how often.
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': String(log.file_bytes), 'max-file': String(log.files) } },
    },
  }
}

/** How an image is run. */
export function createContainers(docker: Docker, id: string, mark: string) {
  const ours = (): Promise<string[]> => docker.labelled(`${keptLabel}=${mark}`)
  const isRunning = async (container: string): Promise<boolean> => (await docker.inspect(container))?.State.Running === true
  return {
    /** The one that there is started again; made where there is none of that digest. */
    async start(what: ContainerStart): Promise<string> {
      let there: string | null = null
      for (const container of await ours()) {
        const about = await docker.inspect(container)
        if (there === null && about?.Config.Labels?.[`${keptLabel}.digest`] === what.digest) there = container
        else await docker.remove(container)
      }
      there ??= await docker.create(`zs-kept-${id}-${what.digest.slice(0, 8)}`, bodyOf(what, mark))
      await docker.start(there)
      return there
    },
    /** The one that runs; null where none does. */
    async find(): Promise<{ id: string; started_at: string } | null> {
      for (const id of await ours()) {
        const state = (await docker.inspect(id))?.State
        if (state?.Running === true) return { id, started_at: new Date(state.StartedAt).toISOString() }
      }
      return null
    },
    /** Any, running or not, whose log can be read. */
    any: async (): Promise<string | null> => (await ours())[0] ?? null,
    isRunning,
    async exitOf(container: string): Promise<Exit & { readonly said: string }> {
      const state = (await docker.inspect(container))?.State
      if (state === undefined) return { code: null, signal: null, said: 'somebody removed the container' }
      const name = state.ExitCode > 128 ? Object.entries(constants.signals).find(([, number]) => number === state.ExitCode - 128)?.[0] : undefined
      return {
        code: name === undefined ? state.ExitCode : null,
        signal: name ?? null,
        said: state.OOMKilled ? 'it was out of memory' : state.Error,
      }
    },
    /** By that signal; ended after that time. */
    async stop(container: string | null, signal: NodeJS.Signals, timeoutMs: number): Promise<void> {
      if (container === null) return
      const until = Date.now() + timeoutMs
      await docker.kill(container, signal)
      while ((await isRunning(container)) && Date.now() < until) await sleep(pollMs)
      if (await isRunning(container)) await docker.kill(container, 'SIGKILL')
      while (await isRunning(container)) await sleep(pollMs)
    },
    async removeAll(): Promise<void> {
      for (const container of await ours()) await docker.remove(container)
    },
  }
}
export type Containers = ReturnType<typeof createContainers>
