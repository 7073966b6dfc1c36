import { Navigate, useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { Gone } from '../../kit/Gone.tsx'
import { paths } from '../../paths.ts'

/** A repository that is named in the query of its address: its page is where the path names it. */
export default function RepositoryByQuery() {
  const { t } = useTranslation('mirror')
  const [search] = useSearchParams()
  const [registryId, projectId, repoName] = [search.get('registryId'), search.get('projectId'), search.get('repoName')]
  if (registryId === null || projectId === null || repoName === null)
    return <Gone title={t('repository.gone')} to={paths.registry.project()} back={t('project.back')} />
  return <Navigate replace to={paths.registry.repository(registryId, projectId, repoName)} />
}
