import { templates } from '@zhisuan/contract/aos/stack'
import { starterKeys } from '@zhisuan/contract/aos/starters'
import { lazy, Suspense } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { Gone } from '../../kit/Gone.tsx'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { TemplateDetail } from './TemplateDetail.tsx'
import { templateGone } from './stackRules.ts'

const TemplateForm = lazy(() => import('./TemplateForm.tsx'))

/** A version of a template, to be read or (`edit`) changed; without an id a new one, which may begin as another (`from`) or as a `starter`. */
export default function TemplateVersion() {
  const [search] = useSearchParams()
  const id = search.get('id')
  const from = search.get('from')
  if (id !== null) return <OneVersion key={id} id={id} as={search.has('edit') ? 'edit' : 'read'} />
  if (from !== null) return <OneVersion key={from} id={from} as="new" />
  const starter = starterKeys.find((key) => key === search.get('starter'))
  return <Draft key={starter ?? ''} known={null} as="new" starter={starter ?? null} />
}

function OneVersion({ id, as }: { readonly id: string; readonly as: 'read' | 'edit' | 'new' }) {
  const { t } = useTranslation('application')
  const query = useCall(templates.get, { params: { id } }, { silent: true, ...(as === 'read' && { refreshMs: 5_000 }) })
  const { data, error, refetch } = query
  // 400: what stands in the address is no id at all.
  if (error?.status === 404 || error?.status === 400) return <Gone {...templateGone(t)} />
  if (data === undefined)
    return error === null ? (
      <PagePlaceholder />
    ) : (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  return as === 'read' ? <TemplateDetail query={query} /> : <Draft known={data} as={as} starter={null} />
}

const Draft = (props: Parameters<typeof TemplateForm>[0]) => (
  <Suspense fallback={<PagePlaceholder />}>
    <TemplateForm {...props} />
  </Suspense>
)
