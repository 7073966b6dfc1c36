import { templates } from '@zhisuan/contract/aos/stack'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { paths } from '../../paths.ts'
import { TemplateDetail } from './TemplateDetail.tsx'

const TemplateForm = lazy(() => import('./TemplateForm.tsx'))

/** A version of a template, to be read or (`edit`) changed; without an id a new one, which may begin as another (`from`). */
export default function TemplateVersion() {
  const [search] = useSearchParams()
  const id = search.get('id')
  const from = search.get('from')
  if (id !== null) return <OneVersion key={id} id={id} as={search.has('edit') ? 'edit' : 'read'} />
  if (from !== null) return <OneVersion key={from} id={from} as="new" />
  return <Form known={null} as="new" />
}

function OneVersion({ id, as }: { readonly id: string; readonly as: 'read' | 'edit' | 'new' }) {
  const { t } = useTranslation('application')
  const query = useCall(templates.get, { params: { id } }, { silent: true, ...(as === 'read' && { refreshMs: 5_000 }) })
  const { data, error, refetch } = query
  // 400: what stands in the address is no id at all.
  if (error?.status === 404 || error?.status === 400) {
    return (
      <div className="zs-card">
        <EmptyState
          title={t('template.gone')}
          action={
            <Link to={paths.container.template.list()} className="zs-button zs-button-plain">
              {t('template.back')}
            </Link>
          }
        >
          {t('template.goneNote')}
        </EmptyState>
      </div>
    )
  }
  if (data === undefined)
    return error === null ? (
      <PagePlaceholder />
    ) : (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  return as === 'read' ? <TemplateDetail query={query} /> : <Form known={data} as={as} />
}

const Form = (props: Parameters<typeof TemplateForm>[0]) => (
  <Suspense fallback={<PagePlaceholder />}>
    <TemplateForm {...props} />
  </Suspense>
)
