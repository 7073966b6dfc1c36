import { mkdirSync } from 'node:fs'
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { keptAction, keptId, keptLogLinesMost, keptOrder, keptPaths } from '@zhisuan/contract/agent/kept'
import { answerJson, bodyOf, Denied } from '../answers.ts'
import type { Host } from '../facts.ts'
import type { ServerAddress } from '../server.ts'
import { createAccounts } from './accounts.ts'
import { createBundles } from './bundles.ts'
import { createDocker } from './docker.ts'
import { createProgram, type Program } from './program.ts'
import { savedIds } from './store.ts'

/** What is wanted, with its files. */
const orderLimitBytes = 20 * 2 ** 20

export interface KeptParts {
  readonly directory: string
  readonly host: Host
  readonly server: ServerAddress
  readonly say: (line: string) => void
}

/** What the agent runs for the platform, and goes on with after a restart of itself or of the node. */
export interface Kept {
  /** Answers what is asked about {@link keptPaths}. */
  serve(request: Http2ServerRequest): Promise<void>
  /** Lets go of all that runs: it goes on. */
  close(): Promise<void>
}

export function createKept({ directory, host, server, say }: KeptParts): Kept {
  const folder = join(directory, 'kept')
  // Programs that run as somebody else pass through, and see nothing.
  mkdirSync(join(folder, 'programs'), { recursive: true, mode: 0o711 })
  const accounts = createAccounts(folder)
  const bundles = createBundles(join(folder, 'bundles'), server)
  const docker = createDocker(host.dockerSocket)
  const programs = new Map<string, Program>()

  const tidy = (): void => {
    const wanted = new Set([...programs.values()].flatMap((program) => program.bundlesWanted()))
    void bundles.keepOnly(wanted).catch((error: unknown) => say(`kept: ${error instanceof Error ? error.message : String(error)}`))
  }
  const open = (id: string): Program => {
    const program = createProgram({
      folder,
      id,
      host,
      accounts,
      bundles,
      docker,
      say,
      changed: tidy,
      others: () => [...programs.values()].flatMap((other) => (other.id === id ? [] : (other.neighbour() ?? []))),
      gone: () => {
        programs.delete(id)
        void program.close()
        tidy()
        // What is known of its data, should somebody ask for that to go, or for it again.
        if (savedIds(folder).includes(id)) open(id)
      },
    })
    programs.set(id, program)
    return program
  }
  for (const id of savedIds(folder)) {
    try {
      open(id)
    } catch (error) {
      // The others are kept all the same.
      say(`kept ${id}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  const one = (id: string): Program => {
    const program = programs.get(id)
    if (program === undefined || program.isLeft()) throw new Denied(404, `${id}: nothing of that name is kept here`)
    return program
  }
  const answerState = async (stream: ServerHttp2Stream, program: Program, status = 200): Promise<void> => answerJson(stream, status, await program.state(true))

  const giveLog = async (stream: ServerHttp2Stream, program: Program, query: URLSearchParams): Promise<void> => {
    const lines = Number(query.get('tail') ?? '200')
    if (!Number.isInteger(lines) || lines < 0 || lines > keptLogLinesMost) throw new Denied(400, `tail: 0 to ${keptLogLinesMost}`)
    const left = new AbortController()
    stream.once('close', () => left.abort())
    stream.respond({ ':status': 200, 'content-type': 'text/plain; charset=utf-8' })
    await pipeline(Readable.from(program.log(lines, query.get('follow') === 'true', left.signal)), stream).catch((error: unknown) => {
      if (!left.signal.aborted) throw error
    })
  }

  return {
    async serve(request) {
      const { stream, method } = request
      const { pathname, searchParams } = new URL(request.url, 'http://agent')
      if (pathname === keptPaths.all) {
        if (method !== 'GET') throw new Denied(404, `${method} ${pathname}: no such path`)
        const kept = [...programs.values()].filter((program) => !program.isLeft())
        return answerJson(stream, 200, { items: await Promise.all(kept.map((program) => program.state(false))) })
      }
      const [id = '', verb = ''] = pathname.slice(keptPaths.all.length + 1).split('/')
      if (!keptId.safeParse(id).success) throw new Denied(400, 'id: no name of a program')
      const is = (name: string, path: string): boolean => method === name && pathname === path
      if (is('GET', keptPaths.one(id))) return answerState(stream, one(id))
      if (is('GET', keptPaths.log(id))) return giveLog(stream, one(id), searchParams)
      if (is('POST', keptPaths.preflight(id))) {
        const { wanted } = await bodyOf(stream, keptOrder, orderLimitBytes)
        const known = programs.get(id)
        const program = known ?? open(id)
        try {
          return answerJson(stream, 200, await program.preflight(wanted))
        } finally {
          // Asked only: nothing is known of it yet.
          if (known === undefined && !savedIds(folder).includes(id)) {
            programs.delete(id)
            await program.close()
          }
        }
      }
      if (is('PUT', keptPaths.one(id))) {
        const { wanted, registry_auth } = await bodyOf(stream, keptOrder, orderLimitBytes)
        const known = programs.get(id)
        const program = known ?? open(id)
        try {
          program.put(wanted, registry_auth)
        } catch (error) {
          if (known === undefined) {
            programs.delete(id)
            await program.close()
          }
          throw error
        }
        return answerState(stream, program, 202)
      }
      if (is('POST', keptPaths.action(id))) {
        const order = await bodyOf(stream, keptAction, 4_096)
        one(id).act(order)
        return answerState(stream, one(id), 202)
      }
      if (is('DELETE', keptPaths.one(id))) {
        const data = searchParams.get('data') === 'true'
        const left = programs.get(id)
        // Its data was left the last time.
        const program = data && left?.isLeft() === true ? left : one(id)
        program.remove(data)
        return answerState(stream, program, 202)
      }
      throw new Denied(404, `${method} ${pathname}: no such path${verb === '' ? '' : ` (${verb})`}`)
    },
    async close() {
      await Promise.all([...programs.values()].map((program) => program.close()))
    },
  }
}
