import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { changes } from '@zhisuan/contract/change'
import type { Kind } from '@zhisuan/contract/kind'
import { useEffect } from 'react'
import { useCurrentUser, useMayCall } from './user.ts'
import { request, toApiError } from '../api/client.ts'
import { pause } from '../api/pause.ts'

/** Whose answers are no longer true where something of a kind has changed, beside those about the kind itself: calls by the beginning of their ids. */
export const touched: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  'nextstack.vm': ['nextstack.flavor.vms', 'cmp.cloud.'],
  'nextstack.snapshot': ['nextstack.snapshotSchedule.'],
  'nextstack.vpc': ['nextstack.network.'],
  'nextstack.eip': ['nextstack.eipPool.'],
  // What runs on a node that is away is not known.
  'ecrm.edge': [
    'ecrm.site.',
    'ecrm.region.',
    'ecrm.gateway.',
    'ecrm.serviceAgent.',
    'cis.container.',
    'cis.deployment.',
    'aos.stack.',
    'aos.nodeStack.',
    'aos.service.',
    'aos.deployment.',
  ],
  'cis.container': ['cis.deployment.', 'cis.config.', 'aos.service.instances'],
  'cis.config': ['aos.stackConfig.'],
  'ims.project': ['ims.registry.'],
  // What is pushed and deleted is counted by its project and its registry.
  'ims.tag': ['ims.tagBin.', 'ims.project.', 'ims.registry.'],
  'files.entry': ['files.space.', 'files.upload.', 'files.share.'],
  'aos.stack': ['aos.nodeStack.', 'aos.service.', 'aos.deployment.', 'aos.stackConfig.'],
}

/** They follow a clock of their own, and ask an engine each time. */
const apart: ReadonlySet<unknown> = new Set([
  'nextstack.vm.metrics',
  'nextstack.vm.consoleLog',
  'nextstack.vm.files',
  'ecrm.edge.metrics',
  'ecrm.edge.images',
  'ecrm.edge.prune',
  'cis.container.stats',
  'cis.container.logs',
  'cis.container.files',
  'cis.container.check',
  'ims.repository.buildHistory',
])

/** Has what is shown of these kinds read again; what is not shown, when it is. */
export function invalidateKinds(client: Pick<QueryClient, 'invalidateQueries'>, kinds: readonly Kind[]): void {
  if (kinds.length === 0) return
  const beginnings = kinds.flatMap((kind) => [`${kind}.`, ...(touched[kind] ?? [])])
  void client.invalidateQueries({ predicate: ({ queryKey: [id] }) => typeof id === 'string' && !apart.has(id) && beginnings.some((one) => id.startsWith(one)) })
}

/** Where much happens, lists need not follow faster than anybody reads. */
const restMs = 1_000
const firstPauseMs = 1_000
const longestPauseMs = 60_000

export interface Follow {
  /** `sys.change.wait`. */
  readonly wait: (after: string | undefined, signal: AbortSignal) => Promise<{ cursor: string; kinds: readonly Kind[] }>
  readonly onKinds: (kinds: readonly Kind[]) => void
  /** Ends it. */
  readonly signal: AbortSignal
  /** Whether somebody looks at the page, and who is told when that changes; answers how to be told no more. */
  readonly visible: () => boolean
  readonly onVisible: (tell: () => void) => () => void
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Asks what changed, again and again, while somebody looks. Ends where the server says that the person may not know. */
export async function followChanges({ wait, onKinds, signal, visible, onVisible, pause }: Follow): Promise<void> {
  let cursor: string | undefined
  let failures = 0
  let hidden = new AbortController()
  let wake: () => void = () => undefined
  const look = (): void => (visible() ? wake() : hidden.abort())
  const seen = async (): Promise<void> => {
    while (!visible() && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve))
    hidden = new AbortController()
  }
  const stop = onVisible(look)
  signal.addEventListener('abort', () => wake(), { once: true })
  try {
    while (!signal.aborted) {
      await seen()
      if (signal.aborted) return
      try {
        const answer = await wait(cursor, AbortSignal.any([signal, hidden.signal]))
        failures = 0
        // The first answer says only from where on we know: pages have just read all they show.
        if (cursor !== undefined) onKinds(answer.kinds)
        cursor = answer.cursor
        await pause(restMs, signal)
      } catch (thrown) {
        if (signal.aborted) return
        if (hidden.signal.aborted) continue
        const { status } = toApiError(thrown)
        // Whoever asks for more than this says what the session came to.
        if (status === 401 || status === 403) return
        await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** failures++), signal)
      }
    }
  } finally {
    stop()
  }
}

/** One question at a time from each tab; lists and pages that show what changed are read again at once. */
export function useChanges(): void {
  const client = useQueryClient()
  const may = useMayCall(changes.wait)
  const userId = useCurrentUser()?.id
  useEffect(() => {
    if (!may || userId === undefined) return undefined
    const end = new AbortController()
    void followChanges({
      wait: (after, signal) => request(changes.wait, { query: { after }, signal }),
      onKinds: (kinds) => invalidateKinds(client, kinds),
      signal: end.signal,
      visible: () => document.visibilityState !== 'hidden',
      onVisible: (tell) => {
        document.addEventListener('visibilitychange', tell)
        return () => document.removeEventListener('visibilitychange', tell)
      },
      pause,
    })
    return () => end.abort()
  }, [client, may, userId])
}
