import { lazy, Suspense } from 'react'
import { useSearchParams } from 'react-router'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { ApplicationList } from './ApplicationList.tsx'

const ApplicationForm = lazy(() => import('./ApplicationForm.tsx'))

/** The applications, or the form that deploys one: it has no address of its own but `?deploy`. */
export default function ApplicationDeploy() {
  const [search] = useSearchParams()
  if (!search.has('deploy')) return <ApplicationList />
  return (
    <Suspense fallback={<PagePlaceholder />}>
      <ApplicationForm templateId={search.get('template')} edgeId={search.get('edge')} />
    </Suspense>
  )
}
