import { setTimeout as sleep } from 'node:timers/promises'
import type { DockerTrouble } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { isEngineError } from '@zhisuan/engines/errors'
import { dockerOver } from '../../../platform/tunnel/docker.ts'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'

/** Who has no Docker is asked at most as often as whether they are there at all. */
const again = { firstMs: 250, mostMs: 4_000 } as const
const tellAgainMs = 1_000

/** Why no Docker answers on a node, by what its agent says; null where that is not the reason. */
export function dockerTroubleOf(error: unknown): DockerTrouble | null {
  // Of a tunnel that broke nothing is known of what is behind it: then the agent said nothing.
  if (!isEngineError(error, 'unreachable') || !error.message.startsWith('docker: ')) return null
  if (/\bENOENT\b/.test(error.message)) return 'missing'
  return /\b(EACCES|EPERM)\b/.test(error.message) ? 'denied' : 'stopped'
}

/**
 * Follows whether the Docker of a node answers, by a stream of its events that breaks off when it
 * stops: one that is idle costs thousands of nodes nothing.
 * @param told is told each change, null where it answers; told again where that fails
 */
export async function followDocker(tunnel: Tunnel, told: (trouble: DockerTrouble | null) => Promise<void>, signal: AbortSignal): Promise<void> {
  const docker = createDocker(dockerOver(tunnel))
  const news: { heard?: DockerTrouble | null; said?: DockerTrouble | null; saying?: boolean } = {}
  /** What was heard last counts. */
  const tell = async (trouble: DockerTrouble | null): Promise<void> => {
    news.heard = trouble
    if (news.saying === true) return
    news.saying = true
    while (news.heard !== news.said && !signal.aborted) {
      const next: DockerTrouble | null = news.heard
      try {
        await told(next)
        news.said = next
      } catch {
        await sleep(tellAgainMs, undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
    news.saying = false
  }
  let wait: number = again.firstMs
  const opened = (): void => {
    wait = again.firstMs
    void tell(null)
  }
  while (!signal.aborted) {
    try {
      // Of those there are next to none: what counts is when they break off.
      for await (const _ of docker.events({ types: ['daemon'], signal, onOpen: opened }));
    } catch (error) {
      const trouble = dockerTroubleOf(error)
      if (trouble !== null && !signal.aborted) void tell(trouble)
    }
    await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined)
    wait = Math.min(wait * 2, again.mostMs)
  }
}
