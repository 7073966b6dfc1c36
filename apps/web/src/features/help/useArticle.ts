import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useTranslation } from '../../i18n.ts'
import { articleIds, loadArticle, type ArticleId } from './articles.ts'
import type { Searchable } from './search.ts'

/** The Markdown of an article; it never changes while the page lives. */
export const useArticle = (id: ArticleId): UseQueryResult<string> =>
  useQuery({ queryKey: ['help.article', id], queryFn: () => loadArticle(id), staleTime: Infinity, gcTime: Infinity, meta: { silent: true } })

/** All of them, to search in: loaded with the first search. */
export function useSearchable(enabled: boolean): UseQueryResult<readonly Searchable[]> {
  const { t } = useTranslation('help')
  return useQuery({
    queryKey: ['help.articles'],
    queryFn: () =>
      Promise.all(
        articleIds.map(async (id) => ({ id, title: t(`articles.${id}.title`), summary: t(`articles.${id}.summary`), markdown: await loadArticle(id) })),
      ),
    enabled,
    staleTime: Infinity,
    gcTime: Infinity,
    meta: { silent: true },
  })
}
