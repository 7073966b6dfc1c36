import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Query } from '@zhisuan/engines/openstack/session'
import { Refusal } from '../../platform/errors.ts'
import { mapped, merged, type Pages } from '../../platform/lines.ts'
import type { Place, View } from './tenancy/tenancy.service.ts'

/**
 * A list as the asker may see it: of their projects one after the other's pages as they come; of platform-level people
 * all that the cloud shows the account that it is registered with. What one of several projects fails with, such as one that is gone, is thrown after the others' pages.
 * @param list `allTenants` is what Nova and Cinder want to be told for it; Neutron and Glance show an administrator all
 */
export function pagesOf<T>(view: View, list: (cloud: OpenStack, allTenants: Query) => Pages<T>): Pages<T> {
  return view.everything ? list(view.administrator, view.allTenants) : eachWhole(view.places.map(({ cloud }) => list(cloud, {})))
}

/**
 * The same for what several projects see at once, such as public images and shared networks: each of it once.
 * Who has no project on the cloud yet sees what is everybody's, by `shared` of what an administrator sees.
 */
export async function* sharedPagesOf<T extends { readonly id: string }>(
  view: View,
  list: (cloud: OpenStack, allTenants: Query) => Pages<T>,
  shared: (one: T) => boolean,
): AsyncGenerator<readonly T[]> {
  if (view.everything || view.places.length > 0) {
    const told = new Set<string>()
    for await (const page of pagesOf(view, list)) {
      const fresh = page.filter(({ id }) => !told.has(id))
      for (const { id } of fresh) told.add(id)
      if (fresh.length > 0) yield fresh
    }
    return
  }
  for await (const page of list(view.administrator, {})) yield page.filter(shared)
}

/** The same of lists that are whole without each other: what one of them fails with is thrown when the others have ended. */
async function* eachWhole<T>(lists: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const failed: EngineError[] = []
  async function* whole(list: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* list
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
      failed.push(error)
    }
  }
  yield* merged(lists.map(whole))
  if (failed[0] !== undefined) throw failed[0]
}

/**
 * One thing by its id, to be shown. Asked from within each of the asker's projects, so that the cloud itself says
 * what is not theirs; platform-level people ask as the cloud's administrator.
 * @param shared whether it is everybody's: also of who has no project on the cloud yet
 * @throws Refusal notFound
 */
export async function readOne<T>(view: View, get: (cloud: OpenStack) => Promise<T>, shared: (one: T) => boolean = () => false): Promise<T> {
  if (view.everything) return missing(get(view.administrator))
  if (view.places.length > 0) return (await seenFrom(view.places, get))[0].one
  const one = await missing(get(view.administrator))
  if (!shared(one)) throw new Refusal('notFound')
  return one
}

/** Something of a cloud, and the cloud as it is to be asked to change it. */
export interface Changeable<T> {
  readonly one: T
  /** From within its own project; of what is nobody's of ours, by platform-level people, as the administrator. */
  readonly cloud: OpenStack
  readonly place: Place | null
}

/**
 * One thing by its id, to be changed. A tenant never gets further than into their own projects.
 * @param projectOf whose it is: what several projects see is changed from within its own
 * @throws Refusal notFound
 */
export async function changeableOne<T>(view: View, get: (cloud: OpenStack) => Promise<T>, projectOf: (one: T) => string | null): Promise<Changeable<T>> {
  if (view.everything) {
    const one = await missing(get(view.administrator))
    const place = view.places.find(({ keystoneId }) => keystoneId === projectOf(one)) ?? null
    return { one, cloud: place?.cloud ?? view.administrator, place }
  }
  const seen = await seenFrom(view.places, get)
  const { place, one } = seen.find((each) => each.place.keystoneId === projectOf(each.one)) ?? seen[0]
  return { one, cloud: place.cloud, place }
}

/** The same of what says itself whose it is. */
export const changeableOf = <T extends { readonly projectId: string | null }>(view: View, get: (cloud: OpenStack) => Promise<T>): Promise<Changeable<T>> =>
  changeableOne(view, get, ({ projectId }) => projectId)

/** From where it is seen, in the order of the places; at least one. */
async function seenFrom<T>(
  places: readonly Place[],
  get: (cloud: OpenStack) => Promise<T>,
): Promise<[{ place: Place; one: T }, ...{ place: Place; one: T }[]]> {
  const answers = await Promise.allSettled(places.map(async (place) => ({ place, one: await get(place.cloud) })))
  const [first, ...rest] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  if (first !== undefined) return [first, ...rest]
  const failure = answers.find((answer) => answer.status === 'rejected' && !isEngineError(answer.reason, 'not_found'))
  if (failure?.status === 'rejected') throw failure.reason
  throw new Refusal('notFound')
}

const missing = async <T>(asked: Promise<T>): Promise<T> => {
  try {
    return await asked
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'not_found') throw new Refusal('notFound', { cause: error })
    throw error
  }
}

/** With what the ids in it are called. */
export type Named = { names: Record<string, string> }

/** What the projects of the asker are called, for the `names` of a list's lines. */
export const namesOfPlaces = (view: View): Record<string, string> => Object.fromEntries(view.places.map(({ keystoneId, name }) => [keystoneId, name]))

/** What each is called, for the same. */
export const namesIn = (pages: Pages<{ readonly id: string; readonly name: string }>): Pages<readonly [string, string]> =>
  mapped(pages, ({ id, name }) => [id, name] as const)
