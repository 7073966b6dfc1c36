import type { computeInstances } from '@zhisuan/contract/compute/instance'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { TerminalSession } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { SerialConsoleError } from '@zhisuan/engines/openstack/serial'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { createTerminals } from '../../../platform/terminals.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { openedServer } from './instance.ground.ts'

type Call = (typeof computeInstances)['serialConsole']

/** Somebody who walked away is still signed in on the machine. */
const limits = { idleMs: 30 * 60_000, wholeMs: 12 * 3_600_000 }
const refusals = { unreachable: 'consoleUnreachable', refused: 'consoleRefused', broken: 'consoleBroken' } as const

export type SerialConsoles = ReturnType<typeof createSerialConsoles>

/**
 * Serial consoles of instances as terminals. A machine has one serial port, which takes one at a time: whoever may
 * open it may take it over. Nova's address, with the token in it, stays here.
 */
export function createSerialConsoles({ db, openStreams, log }: Pick<Platform, 'db' | 'openStreams' | 'log'>, { tenancy }: { tenancy: Tenancy }) {
  const { open, ...terminals } = createTerminals({ path: '/api/compute/v1/serial-consoles', streams: openStreams, log, limits })
  return {
    ...terminals,
    async open(actor: Actor, cloudId: string, id: string, body: BodyOf<Call>): Promise<ResponseOf<Call>> {
      const { cloud } = await openedServer({ db, tenancy }, actor, cloudId, id, 'console')
      return open(actor, `${cloudId} ${id}`, body, async () => {
        try {
          return inOurWords(await cloud.compute.servers.serialConsole(id))
        } catch (error) {
          throw worded(error)
        }
      })
    },
  }
}

const inOurWords = (session: TerminalSession): TerminalSession => {
  const exit = session.exit.then(
    () => Promise.reject(new Refusal('consoleHungUp')),
    (error: unknown) => Promise.reject(worded(error)),
  )
  // Heard of by whoever waits.
  exit.catch(() => undefined)
  return { ...session, exit }
}

function worded(error: unknown): unknown {
  if (error instanceof SerialConsoleError) {
    const { cloud, service, requestId: request_id } = error
    return new Refusal(refusals[error.reason], { cause: error, engine: { cloud, service, request_id } })
  }
  // Nova says so of a kind that it was not set up for.
  return isEngineError(error, 'invalid', 'unsupported') ? new Refusal('consoleMissing', { cause: error }) : error
}
