import { join } from 'node:path'
import type { Rolldown } from 'vite'

type Modules = Pick<Rolldown.PluginContext, 'getModuleInfo'>

/** What this share of all pages needs is one file with all else that most pages need: what lists and forms are made of. */
const ofMost = 0.55
/** What fewer need, but this share at least, is a second one: what pages about single things have beside. */
const ofMany = 0.37
/** What only pages of one product group need is one file of that group where it is as wide there … */
const ofGroup = 0.3
/** … or where its source is smaller than this. */
const smallBytes = 4_000

/** What several product groups need is no file of its own below this. */
const tinyBytes = 1_500

/**
 * Which file a module comes into. Left alone, the bundler makes a file for each set of pages that need the same: some
 * hundred and twenty for a page, and each is a request. Here what the first page has is one file, what the console has
 * around every page is another, then what most and many pages need, and small things of a product group are one of that
 * group. Pages, and what few of them need, stay files of their own.
 */
export function chunks(root: string) {
  let names: ReadonlyMap<string, string> | null = null
  const nameOf = (id: string, modules: Modules): string | null => (names ??= namesIn(root, modules)).get(id) ?? null
  const only = (group: string) => ({
    debugName: group,
    name: (id: string, modules: Modules) => (nameOf(id, modules) === group ? group : null),
  })
  // A group takes along what its modules need: nothing of a narrower one, as what something needs is needed as widely.
  return {
    groups: [
      { name: 'main', tags: ['$initial' as const] },
      only('light'),
      only('console'),
      only('most'),
      only('many'),
      { debugName: 'product groups', name: nameOf },
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
  const isOwnFile = (id: string): boolean => (infoOf(id)?.dynamicImporters.length ?? 0) > 0
  const pages = [...all].filter((id) => id.startsWith(features) && isOwnFile(id))
  const pagesOfGroup = Map.groupBy(pages, groupOf)

  const names = new Map<string, string>()
  const first = neededBy(join(root, 'index.html'))
  // What visitors see is drawn without antd, and must not wait for a file with it.
  const isLight = (page: string): boolean => groupOf(page) === 'public' && ![...neededBy(page)].some((id) => id.includes('/node_modules/antd/'))
  for (const id of neededBy(...pages.filter(isLight))) if (!first.has(id) && !isOwnFile(id)) names.set(id, 'light')
  const around = neededBy(join(root, 'src/layout/ConsoleLayout.tsx'), join(root, 'src/layout/Antd.tsx'))
  for (const id of around) if (!first.has(id) && !names.has(id) && !isOwnFile(id)) names.set(id, 'console')
  const users = new Map<string, Set<string>>()
  for (const page of pages) {
    for (const id of neededBy(page)) {
      if (first.has(id) || names.has(id) || isOwnFile(id)) continue
      const known = users.get(id) ?? new Set()
      users.set(id, known.add(page))
    }
  }
  // Widest first: what something needs comes before it.
  for (const [id, by] of [...users].toSorted(([, a], [, b]) => b.size - a.size)) {
    const groups = new Set([...by].map(groupOf))
    const [group = ''] = groups
    const size = infoOf(id)?.code?.length ?? 0
    const share = by.size / pages.length
    const comesAlone = [...neededBy(id)].every((needed) => needed === id || first.has(needed) || names.has(needed))
    // Libraries of few pages are large, and stay where the bundler puts them.
    const isOurs = !id.includes('/node_modules/') || id.includes('/@ant-design/icons')
    if (share >= ofMost || (isOurs && groups.size > 1 && size < tinyBytes && comesAlone)) names.set(id, 'most')
    else if (share >= ofMany) names.set(id, 'many')
    else if (isOurs && groups.size === 1 && (size < smallBytes || by.size >= ofGroup * (pagesOfGroup.get(group)?.length ?? 0))) {
      // Not what would take something of several product groups along.
      const isWithin = [...neededBy(id)].every(
        (needed) => first.has(needed) || [...(users.get(needed) ?? [])].every((page) => groupOf(page) === group) || names.has(needed),
      )
      if (isWithin) names.set(id, group)
    }
  }
  return names
}
