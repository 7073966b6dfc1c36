import { EngineError } from '@zhisuan/engines/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { problemOf, toRefusal } from './http/problems.ts'

/** A list of a service, as its client gives it: page by page. */
export type Pages<T> = AsyncIterable<readonly T[]>

/** A line of a list: packages/contract/src/line.ts. */
export interface Line<T> {
  items?: T[]
  names?: Record<string, string>
  failed?: Problem
  done?: true
}

/**
 * The lines of a list: pages as they come, and what things are called that they name by id, asked for at the same
 * time. A service that only gives names may fail: then its names are missing, and a line says so.
 * @param parts.names each a list of its own, already as names by id
 * @throws what the list itself fails with before anything of it was told; after that a line says so, and no line says `done`
 */
export async function* linesOf<T>(parts: {
  items: Pages<T>
  names?: readonly (Pages<readonly [string, string]> | Record<string, string>)[]
  requestId: string
}): AsyncGenerator<Line<T>> {
  const names = (parts.names ?? []).map((one) => (Symbol.asyncIterator in one ? namesLines(one, parts.requestId) : said(one)))
  let begun = false
  try {
    for await (const line of merged<Line<T>>([items(parts.items), ...names])) {
      begun = true
      yield line
    }
  } catch (error) {
    if (!begun || !(error instanceof EngineError) || error.kind === 'cancelled') throw error
    return yield { failed: problemOf(toRefusal(error), parts.requestId) }
  }
  yield { done: true }
}

async function* items<T>(pages: Pages<T>): AsyncGenerator<Line<T>> {
  for await (const page of pages) yield { items: [...page] }
}

async function* said(names: Record<string, string>): AsyncGenerator<Line<never>> {
  if (Object.keys(names).length > 0) yield { names }
}

async function* namesLines(pages: Pages<readonly [string, string]>, requestId: string): AsyncGenerator<Line<never>> {
  try {
    for await (const page of pages) yield { names: Object.fromEntries(page) }
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
    yield { failed: problemOf(toRefusal(error), requestId) }
  }
}

/** What there is of a list that another's rows are made with, and what it failed with. */
export interface Known<T> {
  readonly rows: readonly T[]
  readonly error: EngineError | null
}

/** Begins to read a list that others are made with, as far as it goes. */
export function known<T>(pages: Pages<T>): Promise<Known<T>> {
  const reading = (async () => {
    const rows: T[] = []
    try {
      for await (const page of pages) rows.push(...page)
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
      return { rows, error }
    }
    return { rows, error: null }
  })()
  // Who needs it finds out; until then nobody may be there to hear of it.
  reading.catch(() => undefined)
  return reading
}

/** Pages made with what is known of another list; what that failed with is thrown after them. */
export async function* madeWith<A, K, B>(
  pages: Pages<A>,
  other: Promise<Known<K>>,
  made: (page: readonly A[], rows: readonly K[]) => B[],
): AsyncGenerator<B[]> {
  for await (const page of pages) yield made(page, (await other).rows)
  const { error } = await other
  if (error !== null) throw error
}

/** Each page made of another's. */
export async function* mapped<A, B>(pages: Pages<A>, made: (one: A) => B): AsyncGenerator<B[]> {
  for await (const page of pages) yield page.map(made)
}

/** Each page without what nobody is to see. */
export async function* only<T>(pages: Pages<T>, shown: (one: T) => boolean): AsyncGenerator<T[]> {
  for await (const page of pages) yield page.filter(shown)
}

/** Pages of several lists, whichever comes first. */
export async function* merged<T>(lists: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const step = async (from: AsyncIterator<T>) => ({ from, result: await from.next() })
  const waiting = new Map(lists.map((list) => list[Symbol.asyncIterator]()).map((from) => [from, step(from)]))
  try {
    while (waiting.size > 0) {
      const { from, result } = await Promise.race(waiting.values())
      if (result.done === true) waiting.delete(from)
      else {
        waiting.set(from, step(from))
        yield result.value
      }
    }
  } finally {
    for (const rest of waiting.values()) rest.catch(() => undefined)
    await Promise.allSettled([...waiting.keys()].map((from) => from.return?.()))
  }
}
