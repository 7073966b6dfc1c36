import { request } from 'node:http'
import { connect } from 'node:net'
import type { dialOrder, DialResult } from '@zhisuan/contract/agent/node'
import type { z } from 'zod'

const outcomes: Readonly<Record<string, DialResult['outcome']>> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'silent',
  ENOTFOUND: 'unknown_name',
  EAI_AGAIN: 'unknown_name',
  ECONNRESET: 'broken',
}

/** Asks once whether somebody answers there. It never fails: what went wrong is the answer. */
export function dial({ kind, address, port, path, timeout_ms }: z.output<typeof dialOrder>): Promise<DialResult> {
  const began = performance.now()
  return new Promise((resolve) => {
    const told = (outcome: DialResult['outcome'], said: string, http_status: number | null = null): void => {
      clearTimeout(timer)
      asked.destroy()
      resolve({ outcome, http_status, said: said.slice(0, 255), milliseconds: Math.round(performance.now() - began) })
    }
    const failed = (error: NodeJS.ErrnoException): void => {
      const { code = '' } = error
      told(outcomes[code] ?? (code.startsWith('HPE_') ? 'broken' : 'unreachable'), code === '' ? error.message : code)
    }
    const timer = setTimeout(() => told('silent', `no answer within ${timeout_ms} ms`), timeout_ms)
    const asked =
      kind === 'tcp'
        ? connect({ host: address, port }, () => told('answered', ''))
        : request({ host: address, port, path, agent: false, headers: { host: address, 'user-agent': 'zhisuan-agent', connection: 'close' } }, (answer) =>
            told('answered', answer.statusMessage ?? '', answer.statusCode ?? null),
          ).end()
    asked.on('error', failed)
  })
}
