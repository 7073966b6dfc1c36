import { join } from 'node:path'
import type { Rolldown } from 'vite'
import type { NeededPage } from './needs.ts'

type Modules = Pick<Rolldown.PluginContext, 'getModuleInfo'>

/** Each file is a request. */
const mostFiles = 15
/** Those that every page begins with: what asks early, the first script, how it loads others, and the rest of its libraries. */
const filesOfFirst = 4

/** How much heavier than elsewhere bytes weigh that are loaded in vain: by visitors, by the frame that is drawn before a page, by who has just signed in. */
const firstWeight = 1_000
const landings: readonly string[] = ['/index', '/nextStack/vm']

/** More than there are files one behind the other. */
const ranks = 64

/**
 * Which file a module comes into. Left alone, the bundler makes a file for each set of pages that need the same: some
 * hundred and twenty for a page, and each is a request. Here such files are put together, two at a time, until no page
 * loads more than `mostFiles`: each time those two of the page with the most that cost others the fewest bytes they do not need.
 * So what is loaded together is one file, whatever it is, and lists do without what forms are made of. What only comes later,
 * such as a dialog, is the bundler's to put.
 */
export function chunks(root: string, pages: readonly NeededPage[]) {
  let files: ReturnType<typeof filesIn> | null = null
  const fileOf = (id: string, modules: Modules) => (files ??= filesIn(root, pages, modules)).get(id)
  return {
    groups: [
      { name: 'main', tags: ['$initial' as const] },
      // Of its libraries, what it leaves out itself and some pages use: else it came into whatever file needs it first.
      { debugName: 'rest', name: (id: string, modules: Modules) => (fileOf(id, modules)?.rank === -1 ? 'rest of the first' : null) },
      // One rank after the other, as each takes along what its modules need and none before it has.
      ...Array.from({ length: ranks }, (_, rank) => ({
        debugName: `rank ${rank}`,
        name: (id: string, modules: Modules) => {
          const file = fileOf(id, modules)
          return file?.rank === rank ? file.name : null
        },
      })),
    ],
  }
}

/** A file to be. */
interface File {
  readonly modules: Set<string>
  bytes: number
  readonly needs: Set<File>
  /** With itself, what it needs, and what those need in turn. */
  reached: Set<File>
  /** By the number of each loader, whether it loads it. */
  readonly by: Uint8Array
}

function filesIn(root: string, pages: readonly NeededPage[], modules: Modules) {
  const neededOf = (id: string): readonly string[] => modules.getModuleInfo(id)?.importedIds ?? []
  const neededBy = (...ids: readonly string[]): ReadonlySet<string> => {
    const found = new Set(ids)
    for (const id of found) for (const needed of neededOf(id)) found.add(needed)
    return found
  }
  const first = neededBy(join(root, 'index.html'))
  const frame = pages.find(({ inside }) => inside)?.frame ?? []
  // What is loaded at once: the frame, and each page, which waits for what is around it only where nobody sees it without.
  const loaders = [
    { weight: firstWeight, modules: neededBy(...frame) },
    ...pages.map(({ path, inside, own }) => ({
      weight: !inside || landings.includes(path) ? firstWeight : 1,
      modules: neededBy(...own, ...(inside ? frame : [])),
    })),
  ]
  const users = new Map<string, number[]>()
  for (const [loader, one] of loaders.entries()) for (const id of one.modules.difference(first)) users.set(id, [...(users.get(id) ?? []), loader])
  const fileOf = new Map<string, File>()
  // What the same need is one file: nobody loads more for it.
  for (const [by, ids] of Map.groupBy(users.keys(), (id) => users.get(id)?.join() ?? '')) {
    const bytes = ids.reduce((sum, id) => sum + (modules.getModuleInfo(id)?.code?.length ?? 0), 0)
    const file: File = { modules: new Set(ids), bytes, needs: new Set(), reached: new Set(), by: new Uint8Array(loaders.length) }
    for (const loader of by.split(',')) file.by[Number(loader)] = 1
    for (const id of ids) fileOf.set(id, file)
  }
  const files = new Set(fileOf.values())
  for (const [id, file] of fileOf) for (const needed of neededOf(id)) file.needs.add(fileOf.get(needed) ?? file).delete(file)
  for (const file of files) {
    file.reached.add(file)
    for (const one of file.reached) for (const needed of one.needs) file.reached.add(needed)
  }
  putTogether(
    files,
    loaders.map(({ weight }) => weight),
  )

  const ranked = new Map<File, number>()
  const rankOf = (file: File): number => {
    const rank = ranked.get(file) ?? Math.max(0, ...[...file.needs].map((needed) => rankOf(needed) + 1))
    if (rank >= ranks) throw new Error('more files need each other, one behind the other, than there are ranks')
    ranked.set(file, rank)
    return rank
  }
  const rest = [...first].map((id) => [id, { name: 'rest of the first', rank: -1 }] as const)
  return new Map([
    ...rest,
    ...[...files].flatMap((file, index) => {
      const named = { name: `files ${index}`, rank: rankOf(file) }
      return [...file.modules].map((id) => [id, named] as const)
    }),
  ])
}

/** Two at a time, until nobody loads too many. */
function putTogether(files: Set<File>, weights: readonly number[]): void {
  const most = mostFiles - filesOfFirst
  for (;;) {
    const counts = weights.map((_, loader) => [...files].filter(({ by }) => by[loader] === 1).length)
    const fullest = counts.indexOf(Math.max(...counts))
    if ((counts[fullest] ?? 0) <= most) return
    const all = [...files].filter(({ by }) => by[fullest] === 1)
    let best: readonly [File, File] | null = null
    let least = Number.POSITIVE_INFINITY
    for (const [index, one] of all.entries()) {
      for (const other of all.slice(index + 1)) {
        let [cost, helped] = [0, 0]
        for (const [loader, weight] of weights.entries()) {
          const [has, hasOther] = [one.by[loader], other.by[loader]]
          if (has !== hasOther) cost += weight * (has === 1 ? other : one).bytes
          else if (has === 1 && (counts[loader] ?? 0) > most) helped++
        }
        // What those need that are loaded in vain comes on top: not looked for where it is too much already.
        if (cost / helped >= least || isRing(one, other)) continue
        cost = costOf(one, other, weights)
        if (cost / helped >= least) continue
        least = cost / helped
        best = [one, other]
      }
    }
    if (best === null) throw new Error(`a page needs ${(counts[fullest] ?? 0) + filesOfFirst} files, and no two of them can be one`)
    mergeInto(best, files)
  }
}

/** Of both the first is left, as both. */
function mergeInto([one, other]: readonly [File, File], files: Set<File>): void {
  files.delete(other)
  for (const id of other.modules) one.modules.add(id)
  one.bytes += other.bytes
  for (const needed of other.needs) one.needs.add(needed)
  for (const reached of other.reached) one.reached.add(reached)
  for (const file of files) {
    if (file.needs.delete(other)) file.needs.add(one)
    if (!file.reached.delete(other) && !file.reached.has(one)) continue
    for (const reached of one.reached) if (reached !== other) file.reached.add(reached)
  }
  one.needs.delete(one)
  one.reached.delete(other)
  // Whoever loads one of them loads the other, and what that needs.
  for (const [loader, has] of other.by.entries()) {
    if (has === 0 && one.by[loader] === 0) continue
    for (const reached of one.reached) reached.by[loader] = 1
  }
}

/** Bytes that would be loaded in vain, were they one, by how much they weigh. */
function costOf(one: File, other: File, weights: readonly number[]): number {
  let cost = 0
  for (const [loader, weight] of weights.entries()) {
    if (one.by[loader] === other.by[loader]) continue
    for (const file of (one.by[loader] === 1 ? other : one).reached) if (file.by[loader] === 0) cost += weight * file.bytes
  }
  return cost
}

/** Whether they, as one, would need what needs them: which of both runs first would be chance. */
const isRing = (one: File, other: File): boolean =>
  [...one.needs, ...other.needs].some((needed) => needed !== one && needed !== other && (needed.reached.has(one) || needed.reached.has(other)))
