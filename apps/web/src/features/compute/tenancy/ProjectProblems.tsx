import { keystoneProjects, type ProjectTrouble } from '@zhisuan/contract/compute/project'
import { constants } from '@zhisuan/contract/constants'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useId } from 'react'
import { Link } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import { useTranslation } from '../../../i18n.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../../paths.ts'
import './tenancy.css'

/**
 * For who runs the platform: which projects of a cloud's, or of an organisation's, are not as they should be on their
 * cloud, since when, and what to do. Nothing where nothing is wrong.
 */
export function ProjectProblems({ of }: { readonly of: { readonly cloud_id: string } | { readonly bp_id: string } }) {
  const { t } = useTranslation('computeTenancy')
  const title = useId()
  const { data, error, refetch } = useCall(keystoneProjects.problems, { query: of }, { silent: true, refreshMs: constants.listRefreshMs })
  if (data === undefined) return error === null ? null : <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (data.items.length === 0) return null
  return (
    <section className="zs-card zs-above" aria-labelledby={title}>
      <h2 className="zs-heading" id={title}>
        {t('problems.title')}
      </h2>
      <ul className="zs-list cq-problems">
        {data.items.map((trouble) => (
          <Problem key={`${trouble.cloud.id} ${trouble.keystone_project_id}`} trouble={trouble} byCloud={'bp_id' in of} />
        ))}
      </ul>
    </section>
  )
}

function Problem({ trouble, byCloud }: { readonly trouble: ProjectTrouble; readonly byCloud: boolean }) {
  const { t } = useTranslation('computeTenancy')
  const { cloud, organisation, project, keystone_project_id, problem, since, lost, lost_count } = trouble
  const owner = organisation === null ? t('gone') : [organisation.name, project?.name].filter((name) => name !== undefined).join(' / ')
  const name = byCloud ? [cloud.name, project?.name].filter((part) => part !== undefined).join(' / ') : owner
  const to = byCloud
    ? withQuery(paths.platform.clouds(), { cloud: cloud.id, tab: 'projects' })
    : organisation === null
      ? null
      : withQuery(paths.iam.partners(), { id: organisation.id })
  return (
    <li>
      <div>
        <StatusTag tone={problem === 'deleted' ? 'bad' : 'warning'}>{t(`problems.is.${problem}`)}</StatusTag> {to === null ? name : <Link to={to}>{name}</Link>}{' '}
        <span className="zs-code zs-soft">{keystone_project_id}</span>
      </div>
      <div className="zs-soft">{t('problems.since', { at: format.dateTime(since) })}</div>
      <div>{t(`problems.todo.${problem}`)}</div>
      {lost_count > 0 && (
        <details>
          <summary>{t('problems.lost', { count: lost_count })}</summary>
          <ul>
            {lost.map(({ id, type, name: called }) => (
              <li key={id}>
                {kindText(type)} {called} <span className="zs-code zs-soft">{id}</span>
              </li>
            ))}
          </ul>
          {lost_count > lost.length && <p className="zs-soft">{t('problems.more', { count: lost_count - lost.length })}</p>}
        </details>
      )}
    </li>
  )
}
