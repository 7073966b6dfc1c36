import Button from 'antd/es/button'
import Input from 'antd/es/input'
import Pagination from 'antd/es/pagination'
import Segmented from 'antd/es/segmented'
import Select from 'antd/es/select'
import { models, type Model } from '@zhisuan/contract/models/model'
import type { QueryInput } from '@zhisuan/contract/define'
import { lazy } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { useDialog } from '../../kit/dialogs.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { useCurrentUser, useIsPlatform, useMayCall } from '../../session/user.ts'
import { modelTones, parametersText, useTerms } from './modelTexts.ts'
import './models.css'

const ModelDialog = lazy(() => import('./ModelDialog.tsx'))

const facetNames = ['task', 'framework', 'licence', 'quantisation', 'language'] as const
const sorts = ['-published_at', '-download_count', '-parameters', 'parameters'] as const
const pageSize = 12

/** The model warehouse: for everybody; who is signed in has their organisation's own beside it. */
export default function Warehouse() {
  const { t } = useTranslation('models')
  const terms = useTerms()
  const signedIn = useCurrentUser() !== null
  const platform = useIsPlatform()
  const mayCreate = useMayCall(models.create)
  const open = useDialog()
  const [search, setSearch] = useSearchParams()
  const view = search.get('view') ?? 'published'
  const page = Number(search.get('page') ?? 1)
  const set = (key: string, value: string | undefined): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        if (key !== 'page') next.delete('page')
        if (value === undefined || value === '') next.delete(key)
        else next.set(key, value)
        return next
      },
      { replace: key !== 'page' },
    )
  // What is in the address is judged by the server.
  const filters = Object.fromEntries([...facetNames, 'keyword'].flatMap((key) => (search.has(key) ? [[key, search.get(key)]] : []))) as QueryInput<
    typeof models.facets
  >
  const query = {
    ...filters,
    page_num: page,
    page_size: pageSize,
    ...(search.has('sort') && { sort: search.get('sort') }),
    ...(view === 'mine' && { mine: 'true' }),
    ...(view === 'review' && { status: 'review' }),
  } as QueryInput<typeof models.list>
  const list = useCall(models.list, { query }, { silent: true })
  const facets = useCall(models.facets, { query: filters }, { silent: true, enabled: view === 'published' })
  return (
    <div className="md-page">
      <header className="md-head">
        <div>
          <h1 id="page-title" tabIndex={-1}>
            {t('title')}
          </h1>
          <p className="zs-soft">{t('lead')}</p>
        </div>
        {signedIn && mayCreate && (
          <Button type="primary" onClick={() => open((close) => <ModelDialog model={null} onClose={close} />)}>
            {t('create')}
          </Button>
        )}
      </header>
      <div className="md-bar">
        {signedIn && (
          <Segmented
            aria-label={t('view.choose')}
            value={view}
            options={['published', 'mine', ...(platform ? ['review'] : [])].map((one) => ({ value: one, label: t(`view.${one as 'mine'}`) }))}
            onChange={(one) => set('view', one === 'published' ? undefined : one)}
          />
        )}
        <Input.Search
          className="md-search"
          allowClear
          defaultValue={search.get('keyword') ?? ''}
          placeholder={t('search')}
          aria-label={t('search')}
          onSearch={(text) => set('keyword', text)}
        />
        <Select
          aria-label={t('sort.label')}
          value={search.get('sort') ?? sorts[0]}
          options={sorts.map((one) => ({ value: one, label: t(`sort.${one}`) }))}
          popupMatchSelectWidth={false}
          onChange={(one: string) => set('sort', one)}
        />
      </div>
      <div className="md-body">
        {view === 'published' && (
          <aside className="md-facets" aria-label={t('facets')}>
            {facetNames.map((facet) => {
              const values = (facets.data?.items ?? []).filter((one) => one.facet === facet)
              const chosen = search.get(facet)
              return (
                values.length > 0 && (
                  <section key={facet}>
                    <h2>{t(`facet.${facet}`)}</h2>
                    <ul className="zs-list">
                      {values.map(({ value, count }) => (
                        <li key={value}>
                          <button
                            type="button"
                            className="md-facet"
                            aria-pressed={chosen === value}
                            onClick={() => set(facet, chosen === value ? undefined : value)}
                          >
                            <span>{terms(facet, value)}</span>
                            <span className="zs-number">{count}</span>
                          </button>
                        </li>
                      ))}
                    </ul>
                  </section>
                )
              )
            })}
          </aside>
        )}
        <div>
          {list.error !== null && list.data === undefined ? (
            <ErrorPanel error={list.error} onRetry={() => void list.refetch()} />
          ) : list.data === undefined ? (
            <PagePlaceholder />
          ) : list.data.items.length === 0 ? (
            <EmptyState title={t(`empty.${view === 'mine' ? 'mine' : view === 'review' ? 'review' : 'published'}`)}>
              {t(view === 'mine' ? 'empty.mineNote' : 'empty.note')}
            </EmptyState>
          ) : (
            <>
              <ul className="md-cards">
                {list.data.items.map((model) => (
                  <li key={model.id}>
                    <ModelCard model={model} showStatus={view !== 'published'} />
                  </li>
                ))}
              </ul>
              <Pagination
                align="end"
                current={page}
                pageSize={pageSize}
                total={list.data.total}
                hideOnSinglePage
                showSizeChanger={false}
                onChange={(next) => set('page', String(next))}
              />
            </>
          )}
        </div>
      </div>
    </div>
  )
}

function ModelCard({ model, showStatus }: { readonly model: Model; readonly showStatus: boolean }) {
  const { t } = useTranslation('models')
  const terms = useTerms()
  return (
    <Link className="md-card" to={paths.warehouse.detail(model.id)}>
      <span className="md-card-head">
        <b>{model.title}</b>
        {showStatus && <StatusTag tone={modelTones[model.status]}>{t(`status.${model.status}`)}</StatusTag>}
        {model.gated && <span className="md-chip">{t('gated')}</span>}
      </span>
      <span className="zs-code">{model.repository}</span>
      <span className="md-summary">{model.summary}</span>
      <span className="md-facts">
        {[
          terms('task', model.task),
          terms('framework', model.framework),
          ...(model.parameters === null ? [] : [t('parameters', { size: parametersText(model.parameters) })]),
          format.bytes(model.size_bytes),
          t('downloads', { count: model.download_count }),
        ].join(' · ')}
      </span>
    </Link>
  )
}
