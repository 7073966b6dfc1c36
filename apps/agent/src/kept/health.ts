import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import type { KeptState, KeptWish } from '@zhisuan/contract/agent/kept'

type Health = KeptState['health']
type Check = NonNullable<KeptWish['health']>

/** One without a check is taken for well when it has run for so long. */
const settledMs = 2_000
/** Until it is well it is asked more often: whoever started it waits. */
const impatientMs = 500

/** Asks once. @throws with why it is not well */
export function ask(check: Check, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => reject(new Error(message))
    const where = `${check.address}:${check.port}`
    if (check.kind === 'tcp') {
      const socket = connect({ host: check.address, port: check.port })
      const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), timeoutMs)
      socket.once('connect', () => {
        resolve()
        socket.destroy()
      })
      socket.once('error', (error) => fail(`${where}: ${error.message}`))
      return void socket.once('close', () => clearTimeout(timer))
    }
    const options = {
      host: check.address,
      port: check.port,
      path: check.path,
      agent: false,
      headers: { 'user-agent': 'zhisuan-agent', connection: 'close' },
    } as const
    const asked = check.scheme === 'https' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options)
    const timer = setTimeout(() => asked.destroy(new Error('no answer in time')), timeoutMs)
    asked.once('response', (answer) => {
      const status = answer.statusCode ?? 0
      answer.destroy()
      if (check.status.includes(status)) resolve()
      else fail(`${where}${check.path}: HTTP ${status}`)
    })
    asked.once('error', (error) => fail(`${where}${check.path}: ${error.message}`))
    asked.once('close', () => clearTimeout(timer))
    asked.end()
  })
}

/** Whether what runs is well, asked again and again while it runs. */
export interface Watch {
  state(): Health
  stop(): void
}

const none: Health = { state: 'none', since: null, checked_at: null, error: null }
export const notWatched: Watch = { state: () => none, stop: () => undefined }

export function watchHealth({ health, health_times: times }: Pick<KeptWish, 'health' | 'health_times'>, startedAt: Date, changed: () => void): Watch {
  let state: Health = { ...none, state: 'starting', since: new Date().toISOString() }
  let failures = 0
  let stopped = false
  let timer: NodeJS.Timeout

  const become = (next: Health['state'], error: string | null): void => {
    const at = new Date().toISOString()
    const before = state
    state = { state: next, since: next === before.state ? before.since : at, checked_at: at, error: error?.slice(0, 1_000) ?? null }
    if (next !== before.state) changed()
  }
  const look = async (): Promise<void> => {
    try {
      if (health !== null) await ask(health, times.timeout_ms)
      if (stopped) return
      failures = 0
      become('healthy', null)
    } catch (error) {
      if (stopped) return
      failures++
      const young = state.state === 'starting' && Date.now() - startedAt.getTime() < times.start_ms
      become(!young && failures >= times.failures ? 'unhealthy' : state.state, error instanceof Error ? error.message : String(error))
    }
    if (health !== null && !stopped)
      timer = setTimeout(() => void look(), state.state === 'healthy' ? times.every_ms : Math.min(impatientMs, times.every_ms)).unref()
  }
  timer = setTimeout(() => void look(), health === null ? Math.max(0, settledMs - (Date.now() - startedAt.getTime())) : Math.min(100, times.every_ms)).unref()
  return {
    state: () => state,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
