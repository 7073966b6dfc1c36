/** What the help centre holds, in reading order. Titles and summaries are in locales/zh/help.ts. */
export const articleGroups = [
  { key: 'account', articles: ['sign-in', 'retrieve-password', 'personal-information', 'single-sign-on'] },
  {
    key: 'instance',
    articles: ['create-instance', 'images', 'instance-types', 'instance-status', 'terminal', 'monitoring', 'instance-snapshots', 'rebuild-delete'],
  },
  { key: 'storage', articles: ['volumes', 'volume-backups'] },
  { key: 'container', articles: ['edge-nodes', 'containers', 'applications'] },
  {
    key: 'platform',
    articles: [
      'initial-password',
      'platform-settings',
      'licence',
      'register-cloud',
      'cloud-maintenance',
      'hypervisor-nodes',
      'storage-pools',
      'roles-and-policies',
    ],
  },
  { key: 'reference', articles: ['quota-price', 'prices-and-bills', 'error-codes', 'access-keys', 'api'] },
] as const

export type ArticleId = (typeof articleGroups)[number]['articles'][number]

export const articleIds: readonly ArticleId[] = articleGroups.flatMap((group) => group.articles)

export const isArticleId = (id: string): id is ArticleId => (articleIds as readonly string[]).includes(id)

// One chunk each: who reads one article loads one.
const files = import.meta.glob<string>('./articles/*.md', { query: '?raw', import: 'default' })

/** Ids of the files that are there, for the test that says none is missing or left over. */
export const articleFiles: readonly string[] = Object.keys(files).map((path) => path.replace(/^.*\/|\.md$/g, ''))

/** The Markdown of an article. @throws where its chunk cannot be loaded */
export async function loadArticle(id: ArticleId): Promise<string> {
  const load = files[`./articles/${id}.md`]
  if (load === undefined) throw new Error(`no article ${id}`)
  return load()
}

/** The ones before and after, over the borders of groups. */
export function neighbours(id: ArticleId): { readonly previous: ArticleId | null; readonly next: ArticleId | null } {
  const at = articleIds.indexOf(id)
  return { previous: articleIds[at - 1] ?? null, next: articleIds[at + 1] ?? null }
}
