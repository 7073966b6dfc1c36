import { registryProjects, repositories, type RegistryProject, type Repository } from '@zhisuan/contract/ims/project'
import { registries } from '@zhisuan/contract/ims/registry'
import { useNavigate, useParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange, useOne } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { Gone } from '../../kit/Gone.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../paths.ts'
import { useCurrentUser, useIsPlatform } from '../../session/user.ts'
import { BinTable } from './BinTable.tsx'
import { invalidatedByRepository, isOwn } from './registryRules.ts'
import { useProjectActions } from './useProjectActions.tsx'

/** One project of a registry: its repositories, and what was deleted of them. */
export default function RepositoryList() {
  const { t } = useTranslation('mirror')
  const navigate = useNavigate()
  const { registryId = '', projectId = '' } = useParams()
  const platform = useIsPlatform()
  const bp_id = useCurrentUser()?.bp_id ?? null
  const list = withQuery(paths.registry.project(), { registry: registryId })
  const registry = useCall(registries.get, { params: { id: registryId } }, { silent: true })
  const { actionsOf } = useProjectActions({ id: registryId }, { onDeleted: () => void navigate(list, { replace: true }) })
  // There is no call for one project: it is among those of its registry that one sees.
  const query = useOne(registryProjects.list, { params: { id: registryId }, query: { page_size: 1000, everybody: 'true' } }, { refreshMs: 10_000 })
  const project = query.data?.items.find(({ id }) => id === projectId)
  const gone = { title: t('project.gone'), to: list, back: t('project.back') }
  if (query.data !== undefined && !query.isPlaceholderData && project === undefined) return <Gone {...gone} />
  const own = project !== undefined && isOwn(project, { platform, bp_id })
  return (
    <DetailPage
      query={query}
      gone={gone}
      title={() => project?.name ?? ''}
      status={() =>
        project !== undefined && <StatusTag tone={project.visibility === 'public' ? 'good' : 'rest'}>{t(`visibility.${project.visibility}`)}</StatusTag>
      }
      actions={() => (project === undefined ? [] : actionsOf(project))}
      facts={() =>
        project === undefined
          ? []
          : [
              {
                key: 'registry',
                label: t('project.registry'),
                value: registry.data === undefined ? format.nothing : `${registry.data.name}（${registry.data.address}）`,
              },
              {
                key: 'used',
                label: t('column.used'),
                value:
                  project.quota_bytes === null
                    ? format.bytes(project.used_bytes)
                    : t('project.usedOf', { used: format.bytes(project.used_bytes), quota: format.bytes(project.quota_bytes) }),
              },
              { key: 'immutable', label: t('project.immutable'), value: project.immutable_tags.join('、') || format.nothing },
              { key: 'keep', label: t('keep.title'), value: project.keep_rules.length },
              { key: 'bin', label: t('project.binDays'), value: `${project.bin_days} ${t('days')}` },
              { key: 'created', label: t('column.created'), value: format.dateTime(project.created_at) },
              { key: 'description', label: t('column.description'), value: project.description || format.nothing },
            ]
      }
      tabs={() =>
        project === undefined
          ? []
          : [
              { key: 'repositories', label: t('repository.tab'), content: <RepositoryTable project={project} own={own} /> },
              ...(own ? [{ key: 'bin', label: t('bin.tab'), content: <BinTable project={project} /> }] : []),
            ]
      }
    />
  )
}

function RepositoryTable({ project, own }: { readonly project: RegistryProject; readonly own: boolean }) {
  const { t } = useTranslation('mirror')
  const remove = useChange(repositories.delete, { invalidates: invalidatedByRepository, silent: true })
  const at = { id: project.registry_id, pid: project.id }
  return (
    <ResourceTable
      name="repositories"
      call={repositories.list}
      input={{ params: at }}
      rowKey="name"
      columns={[
        col.name<Repository>('name', t('column.name'), ({ name }) => name, { sort: true, to: ({ name }) => paths.registry.repository(at.id, at.pid, name) }),
        col.number<Repository>('tags', t('column.tags'), ({ tag_count }) => tag_count, { width: 80 }),
        col.bytes<Repository>('used_bytes', t('column.size'), ({ used_bytes }) => used_bytes, { width: 110, sort: true }),
        col.number<Repository>('pulls', t('column.pulls'), ({ pull_count }) => pull_count, { width: 100 }),
        col.date<Repository>('pushed_at', t('column.pushed'), ({ pushed_at }) => pushed_at, { sort: true }),
        col.date<Repository>('pulled_at', t('column.pulled'), ({ pulled_at }) => pulled_at, { sort: true }),
        col.code<Repository>('image', t('repository.pull'), ({ image }) => image, { off: true }),
      ]}
      filters={[filter.keyword(t('repository.keyword'))]}
      rowActions={({ name, tag_count: tags }) => [
        {
          key: 'delete',
          call: repositories.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason: own ? null : t('project.notOwn'),
          confirm: {
            title: t('repository.deleteTitle', { name }),
            body: project.bin_days === 0 ? t('repository.deleteNow', { tags }) : t('repository.deleteBody', { tags, days: project.bin_days }),
            ...(project.bin_days === 0 && { typeToConfirm: name }),
          },
          doneText: t('deleted', { name }),
          run: () => remove.mutateAsync({ params: { ...at, name } }),
        },
      ]}
      empty={{ title: t('repository.empty'), note: t('repository.emptyNote') }}
    />
  )
}
