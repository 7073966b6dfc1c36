import { join } from 'node:path'
import type { Rolldown } from 'vite'

type Modules = Pick<Rolldown.PluginContext, 'getModuleInfo'>

/** What this share of all pages needs is one file with all else that most pages need: what lists and forms are made of. */
const ofMost = 0.55
/** What fewer need, but this share at least, is a second one: what pages about single things have beside. */
const ofMany = 0.37
/** What this share needs, of several product groups, is a third one: what only some pages show, as tabs. */
const ofSome = 0.05

/** What only pages of one product group need is one file of that group where it is as wide there … */
const ofGroup = 0.3
/** … or where its source is smaller than this. */
const smallBytes = 7_000

/** What checks by schemas brings zod along, and so is never in one file with what does not: lists do without, and load it with the first form. */
const forms = 'forms'

/** What of a product group needs what only some pages do: its lists do without. */
const details = 'details'

/** What a product group shows of its own, and others show too. */
const shared = 'shared'

/** What several product groups need is no file of its own below this; up to the other it is one with all that they need of the same group. */
const tinyBytes = 1_500
const sharedBytes = 8_000

/**
 * Which file a module comes into. Left alone, the bundler makes a file for each set of pages that need the same: some
 * hundred and twenty for a page, and each is a request. Here what the first page has is one file, what the console has
 * around every page is another, then what most, many and some pages need, and small things of a product group are a few of
 * that group: what its lists need, what its details and its forms need beside, and what others show of it. Pages, and what
 * few of them need, stay files of their own.
 */
export function chunks(root: string) {
  let names: ReadonlyMap<string, string> | null = null
  const nameOf = (id: string, modules: Modules): string | null => (names ??= namesIn(root, modules)).get(id) ?? null
  const only = (group: string) => ({
    debugName: group,
    name: (id: string, modules: Modules) => (nameOf(id, modules) === group ? group : null),
  })
  const ofGroups = (kind: string) => ({
    debugName: `product groups ${kind}`,
    name: (id: string, modules: Modules) => {
      const name = nameOf(id, modules)
      return name?.split(' ', 2)[1] === (kind === '' ? undefined : kind) ? name : null
    },
  })
  // A group takes along what its modules need: nothing of a narrower one, as what something needs is needed as widely.
  return {
    groups: [
      { name: 'main', tags: ['$initial' as const] },
      only('rest of the first'),
      only('light and lists'),
      only('light'),
      only('console'),
      only('most'),
      only('many'),
      only('some'),
      only(forms),
      // One after the other: each takes along what its own modules need.
      ofGroups(shared),
      ofGroups(''),
      ofGroups(details),
      ofGroups(forms),
    ],
  }
}

function namesIn(root: string, modules: Modules): ReadonlyMap<string, string> {
  const infoOf = (id: string) => modules.getModuleInfo(id)
  const neededBy = (...ids: readonly string[]): ReadonlySet<string> => {
    const found = new Set(ids)
    for (const id of found) for (const needed of infoOf(id)?.importedIds ?? []) found.add(needed)
    return found
  }
  const all = new Set([join(root, 'index.html')])
  for (const id of all) for (const next of [...(infoOf(id)?.importedIds ?? []), ...(infoOf(id)?.dynamicallyImportedIds ?? [])]) all.add(next)
  const features = join(root, 'src/features/')
  const groupOf = (page: string): string => page.slice(features.length).split('/', 1)[0] ?? ''
  const homeOf = (id: string): string | null => /\/(?:features|contract\/src)\/([^/]+)\//.exec(id)?.[1] ?? null
  const isOwnFile = (id: string): boolean => (infoOf(id)?.dynamicImporters.length ?? 0) > 0
  const pages = [...all].filter((id) => id.startsWith(features) && isOwnFile(id))
  const pagesOfGroup = Map.groupBy(pages, groupOf)

  const names = new Map<string, string>()
  const first = neededBy(join(root, 'index.html'))
  // Of its libraries, what it leaves out itself and a few pages use.
  for (const id of first) names.set(id, 'rest of the first')
  // What visitors see is drawn without antd, and must not wait for a file with it.
  const comesFirst = (page: string): boolean => infoOf(page)?.dynamicImporters.includes(join(root, 'src/visitorPages.ts')) === true
  const isLight = (page: string): boolean => comesFirst(page) && ![...neededBy(page)].some((id) => id.includes('/node_modules/antd/'))
  for (const id of neededBy(...pages.filter(isLight))) if (!first.has(id) && !isOwnFile(id)) names.set(id, 'light')
  // Nor do lists wait for the forms of visitors.
  for (const id of neededBy(join(root, 'src/kit/RowsTable.tsx'))) if (names.get(id) === 'light') names.set(id, 'light and lists')
  const frames = [join(root, 'src/layout/ConsoleLayout.tsx'), join(root, 'src/kit/Antd.tsx')]
  for (const id of neededBy(...frames)) if (!first.has(id) && !names.has(id) && (!isOwnFile(id) || frames.includes(id))) names.set(id, 'console')
  const users = new Map<string, Set<string>>()
  for (const page of pages) {
    for (const id of neededBy(page)) {
      if (first.has(id) || names.has(id) || isOwnFile(id)) continue
      const known = users.get(id) ?? new Set()
      users.set(id, known.add(page))
    }
  }
  // Widest first: what something needs comes before it.
  for (const [id, by] of [...users].toSorted(([one, a], [other, b]) => b.size - a.size || neededBy(one).size - neededBy(other).size)) {
    const groups = new Set([...by].map(groupOf))
    const [group = ''] = groups
    // Icons have their picture in a comment once more.
    const size = id.includes('/@ant-design/icons/') ? 0 : (infoOf(id)?.code?.length ?? 0)
    const share = by.size / pages.length
    const needed = neededBy(id)
    const isForm = [...needed].some((one) => one.includes('/node_modules/zod/'))
    const isDetail = [...needed].some((one) => names.get(one) === 'some')
    const comesAlone = [...needed].every((one) => one === id || first.has(one) || names.has(one))
    // Else what most need would take along what fewer do.
    const isNearMost = comesAlone && [...needed].every((one) => one === id || !['many', 'some'].includes(names.get(one) ?? ''))
    // Libraries of few pages are large, and stay where the bundler puts them.
    const isOurs = !id.includes('/node_modules/') || id.includes('/@ant-design/icons')
    if (share >= ofMost || (isOurs && groups.size > 1 && size < tinyBytes && isNearMost)) names.set(id, isForm ? forms : 'most')
    else if (share >= ofMany) names.set(id, isForm ? forms : 'many')
    else if (groups.size > 1 && share >= ofSome && homeOf(id) === null) names.set(id, isForm ? forms : 'some')
    else if (isOurs && groups.size === 1 && (size < smallBytes || by.size >= ofGroup * (pagesOfGroup.get(group)?.length ?? 0))) {
      // Not what would take something of several product groups along.
      const isWithin = [...needed].every((one) => first.has(one) || [...(users.get(one) ?? [])].every((page) => groupOf(page) === group) || names.has(one))
      if (isWithin) names.set(id, isForm ? `${group} ${forms}` : isDetail ? `${group} ${details}` : group)
    } else if (isOurs && !isForm && groups.size > 1 && comesAlone && size < sharedBytes) {
      const home = homeOf(id)
      if (home !== null) names.set(id, `${home} ${shared}`)
    }
  }
  return names
}
