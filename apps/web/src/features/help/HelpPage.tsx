import SearchOutlined from '@ant-design/icons/es/icons/SearchOutlined'
import Button from 'antd/es/button'
import Input from 'antd/es/input'
import { useDeferredValue, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useSearchParams } from 'react-router'
import { clearable } from '../../kit/clearable.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { paths } from '../../paths.ts'
import { articleGroups } from './articles.ts'
import './help.css'
import { marked, searchArticles, type Finding } from './search.ts'
import { useSearchable } from './useArticle.ts'

/** The help centre: search over everything, and all articles by group. */
export default function HelpPage() {
  const { t } = useTranslation('help')
  const [address, setAddress] = useSearchParams()
  const [typed, setTyped] = useState(address.get('keyword') ?? '')
  const query = useDeferredValue(typed.trim())

  const type = (text: string): void => {
    setTyped(text)
    setAddress(text.trim() === '' ? {} : { keyword: text.trim() }, { replace: true })
  }

  return (
    <div className="help-home">
      <section className="help-search">
        <p>{t('lead')}</p>
        <Input
          size="large"
          type="search"
          allowClear={clearable}
          prefix={<SearchOutlined aria-hidden />}
          aria-label={t('search')}
          placeholder={t('searchHint')}
          value={typed}
          onChange={(event) => type(event.target.value)}
        />
      </section>
      {query === '' ? <Groups /> : <Findings query={query} onAll={() => type('')} />}
      <p className="help-ask">
        {t('askTitle')} <Link to={paths.messageBoard()}>{t('ask')}</Link>
      </p>
    </div>
  )
}

function Groups() {
  const { t } = useTranslation('help')
  return (
    <div className="help-groups">
      {articleGroups.map((group) => (
        <section key={group.key} className="zs-card" aria-labelledby={`help-${group.key}`}>
          <h2 id={`help-${group.key}`}>{t(`groups.${group.key}.title`)}</h2>
          <p className="help-note">{t(`groups.${group.key}.text`)}</p>
          <ul className="help-list">
            {group.articles.map((id) => (
              <li key={id}>
                <Link to={paths.help.detail(id)}>{t(`articles.${id}.title`)}</Link>
                <p className="help-note">{t(`articles.${id}.summary`)}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function Findings({ query, onAll }: { readonly query: string; readonly onAll: () => void }) {
  const { t } = useTranslation('help')
  const { data, isError, refetch } = useSearchable(true)
  const findings = data === undefined ? null : searchArticles(data, query)
  if (isError) return <EmptyState title={t('searchFailed')} action={<Button onClick={() => void refetch()}>{t('retry')}</Button>} />
  return (
    <section className="zs-card">
      <div role="status" className="help-note">
        {findings === null ? t('searching') : findings.length > 0 ? t('found', { count: findings.length }) : null}
        {findings?.length === 0 && (
          <EmptyState title={t('notFound')} action={<Button onClick={onAll}>{t('allArticles')}</Button>}>
            {t('notFoundHint')}
          </EmptyState>
        )}
      </div>
      {findings !== null && findings.length > 0 && (
        <ul className="help-list">
          {findings.map((finding) => (
            <li key={finding.id}>
              <Link to={addressOf(finding)}>
                <Marked text={finding.title} query={query} />
                {finding.heading !== null && (
                  <>
                    {' › '}
                    <Marked text={finding.heading.text} query={query} />
                  </>
                )}
              </Link>
              <p className="help-note">
                <Marked text={finding.excerpt} query={query} />
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const addressOf = (finding: Finding): string => paths.help.detail(finding.id) + (finding.heading === null ? '' : `#${encodeURIComponent(finding.heading.id)}`)

function Marked({ text, query }: { readonly text: string; readonly query: string }) {
  return marked(text, query).map((part, index) => (part.hit ? <mark key={index}>{part.text}</mark> : part.text))
}
