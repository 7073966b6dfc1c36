import { randomUUID } from 'node:crypto'
import type { Kind } from '@zhisuan/contract/kind'
import type { Scope } from './auth/actor.ts'
import type { Bus } from './bus.ts'
import { migration, type Migrations } from './db/database.ts'
import type { Kinds } from './kinds.ts'

/** Topic on the bus: `kind bp_id`, with `-` for what belongs to nobody, or to all. */
const changeTopic = 'change'

export const changeMigrations: Migrations = {
  // The tables themselves tell: no change by whatever code can forget to. Alike messages of one
  // transaction are sent once, and only when it commits.
  '20261123_00_08_change_function': migration(`
    create function tell_change() returns trigger language plpgsql as $$
    begin
      perform pg_notify('zhisuan', '${changeTopic} ' || tg_argv[0] || ' ' || coalesce((case when tg_op = 'DELETE' then old.bp_id else new.bp_id end)::text, '-'));
      return null;
    end $$;
  `),
}

/** SQL that makes a table tell of its changes, as those of every kind whose lists show it. It has to have a column `bp_id`. */
export const tellsChanges = (table: string, ...kinds: readonly Kind[]): string =>
  kinds
    .map(
      (kind) =>
        `create trigger ${table}_tell_${kind.split('.').at(-1)} after insert or update or delete on ${table} for each row execute function tell_change('${kind}');`,
    )
    .join('\n')

/** How long one question is kept open. Below the minute after which proxies lose patience. */
const patienceMs = 25_000
/** Changes come in bursts: who waited is told of the burst, not of its first one. */
const gatherMs = 100
/** So many changes are remembered; who asks after older ones is told of all kinds. */
const remembered = 2_000

interface Change {
  readonly number: number
  readonly kind: Kind
  readonly bp_id: string | null
}

/** Tells consoles what changed, so that they read again at once instead of every few seconds. */
export function createChanges({ bus, kinds: named }: { readonly bus: Pick<Bus, 'subscribe'>; readonly kinds: () => Pick<Kinds, 'keys'> }) {
  const all = (): Kind[] => [...named().keys()]
  // Cursors of another server, or of before a gap, are not known here.
  let epoch = randomUUID().slice(0, 8)
  let last = 0
  let changes: Change[] = []
  const waiting = new Set<(change: Change | null) => void>()

  const unsubscribe = bus.subscribe(
    changeTopic,
    (payload) => {
      const [kind, bp = '-'] = payload.split(' ')
      const known = all().find((one) => one === kind)
      if (known === undefined) return
      const change = { number: ++last, kind: known, bp_id: bp === '-' ? null : bp }
      changes.push(change)
      if (changes.length > 2 * remembered) changes = changes.slice(-remembered)
      for (const wake of waiting) wake(change)
    },
    () => {
      epoch = randomUUID().slice(0, 8)
      changes = []
      for (const wake of waiting) wake(null)
    },
  )

  const cursor = (): string => `${epoch}.${last}`
  const since = (scope: Scope, number: number): Kind[] => [
    ...new Set(changes.filter((change) => change.number > number && sees(scope, change)).map(({ kind }) => kind)),
  ]

  return {
    async wait(scope: Scope, after: string | undefined, signal: AbortSignal): Promise<{ cursor: string; kinds: Kind[] }> {
      const [theirs, text = ''] = (after ?? '').split('.')
      const number = Number(text)
      const oldest = changes[0]?.number ?? last + 1
      if (theirs !== epoch || !Number.isSafeInteger(number) || number > last || number + 1 < oldest) return { cursor: cursor(), kinds: all() }
      if (since(scope, number).length === 0) await change(scope, signal)
      // The stream was cut while we waited.
      return theirs === epoch ? { cursor: cursor(), kinds: since(scope, number) } : { cursor: cursor(), kinds: all() }
    },
    stop(): void {
      unsubscribe()
      for (const wake of waiting) wake(null)
    },
  }

  /** Resolves a little after a change that the scope sees, when patience ends, or nobody waits any more. */
  function change(scope: Scope, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        waiting.delete(wake)
        signal.removeEventListener('abort', end)
        resolve()
      }
      let timer = setTimeout(end, patienceMs)
      const wake = (told: Change | null) => {
        if (told !== null && !sees(scope, told)) return
        waiting.delete(wake)
        clearTimeout(timer)
        timer = setTimeout(end, told === null ? 0 : gatherMs)
      }
      waiting.add(wake)
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
    })
  }
}

/** What belongs to nobody is told to all: that something changed is no secret, what did is. */
const sees = (scope: Scope, { bp_id }: Change): boolean => 'everything' in scope || bp_id === null || ('bp_id' in scope && scope.bp_id === bp_id)
