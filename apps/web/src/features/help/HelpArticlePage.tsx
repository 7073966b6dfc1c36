import Button from 'antd/es/button'
import Skeleton from 'antd/es/skeleton'
import { useEffect, useMemo } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useParams } from 'react-router'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { TableOfContents } from '../../kit/TableOfContents.tsx'
import { paths } from '../../paths.ts'
import { Article } from './Article.tsx'
import { articleGroups, isArticleId, neighbours, type ArticleId } from './articles.ts'
import './help.css'
import { tableOfContents } from './markdown.ts'
import { useArticle } from './useArticle.ts'
import { useScrollToHash } from '../../kit/useScrollToHash.ts'

/** One article, with all others on the left and its own contents on the right. */
export default function HelpArticlePage() {
  const { t } = useTranslation('help')
  const { id = '' } = useParams()
  if (!isArticleId(id)) {
    return (
      <EmptyState title={t('missing')} action={<Link to={paths.help.list()}>{t('toHelp')}</Link>}>
        {t('missingText')}
      </EmptyState>
    )
  }
  return <KnownArticle key={id} id={id} />
}

function KnownArticle({ id }: { readonly id: ArticleId }) {
  const { t } = useTranslation('help')
  const { data: markdown, isError, refetch } = useArticle(id)
  const headings = useMemo(() => tableOfContents(markdown ?? ''), [markdown])
  usePageTitle(t(`articles.${id}.title`))

  useScrollToHash(markdown !== undefined)
  // Another article begins at its beginning.
  useEffect(() => {
    if (location.hash === '') scrollTo({ top: 0 })
  }, [])

  return (
    <div className="help-page">
      <nav className="help-all" aria-label={t('allArticles')}>
        {articleGroups.map((group) => (
          <section key={group.key}>
            <h2>{t(`groups.${group.key}.title`)}</h2>
            <ul className="zs-list">
              {group.articles.map((one) => (
                <li key={one}>
                  <Link to={paths.help.detail(one)} {...(one === id && { 'aria-current': 'page' as const })}>
                    {t(`articles.${one}.title`)}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      <article className="zs-card help-article" aria-busy={markdown === undefined && !isError}>
        {isError ? (
          <EmptyState title={t('loadFailed')} action={<Button onClick={() => void refetch()}>{t('retry')}</Button>}>
            {t('loadFailedText')}
          </EmptyState>
        ) : markdown === undefined ? (
          <Skeleton active paragraph={{ rows: 12 }} />
        ) : (
          <Article markdown={markdown} />
        )}
        <Neighbours id={id} />
      </article>
      <TableOfContents label={t('contents')} headings={headings} />
    </div>
  )
}

function Neighbours({ id }: { readonly id: ArticleId }) {
  const { t } = useTranslation('help')
  const { previous, next } = neighbours(id)
  return (
    <nav className="help-neighbours" aria-label={`${t('previous')} / ${t('next')}`}>
      {previous !== null && (
        <Link to={paths.help.detail(previous)} rel="prev">
          <small>{t('previous')}</small>
          {t(`articles.${previous}.title`)}
        </Link>
      )}
      {next !== null && (
        <Link to={paths.help.detail(next)} rel="next" className="help-next">
          <small>{t('next')}</small>
          {t(`articles.${next}.title`)}
        </Link>
      )}
    </nav>
  )
}
