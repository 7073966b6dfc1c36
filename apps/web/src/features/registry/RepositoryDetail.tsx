import { byId, type ResponseOf } from '@zhisuan/contract/define'
import { registryProjects, repositories } from '@zhisuan/contract/ims/project'
import { registryCommands } from '@zhisuan/contract/ims/registry'
import { lazy, Suspense } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange, useOne } from '../../api/hooks.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import * as format from '../../kit/format.ts'
import { Gone } from '../../kit/Gone.tsx'
import { MetricChart } from '../../kit/MetricChart.tsx'
import { paths } from '../../paths.ts'
import { invalidatedByRepository } from './registryRules.ts'
import { TagTable } from './TagTable.tsx'
import '../../kit/chart.css'

const CommandDialog = lazy(() => import('./CommandDialog.tsx'))
const AboutDialog = lazy(() => import('./AboutDialog.tsx'))
const Prose = lazy(() => import('../../kit/Prose.tsx'))

/** One repository of images: how it is pulled, what is told of it, its tags and how its size became what it is. */
export default function RepositoryDetail() {
  const { t } = useTranslation('mirror')
  const navigate = useNavigate()
  const { registryId = '', projectId = '', repoName = '' } = useParams()
  const at = { id: registryId, pid: projectId, name: repoName }
  const list = paths.registry.repositories(at.id, at.pid)
  // What has no such ids is not there: asked for, it would be a mistake in the question.
  const known = [registryId, projectId].every((id) => byId.safeParse({ id }).success)
  const query = useOne(repositories.get, { params: at }, { refreshMs: 5_000, enabled: known })
  // Without `everybody` only those are told that one may change.
  const { data: changeable } = useCall(registryProjects.list, { params: { id: registryId }, query: { page_size: 1000 } }, { silent: true, enabled: known })
  const notOwn = changeable === undefined || changeable.items.some(({ id }) => id === projectId) ? null : t('project.notOwn')
  const remove = useChange(repositories.delete, { invalidates: invalidatedByRepository, silent: true })
  const gone = { title: t('repository.gone'), to: list, back: t('repository.back') }
  if (!known) return <Gone {...gone} />
  return (
    <DetailPage
      query={query}
      gone={gone}
      title={({ name }) => name}
      actions={({ name, project, tag_count: tags, description }) => [
        {
          key: 'command',
          call: registryCommands.create,
          label: t('command.title'),
          dialog: (close) => <CommandDialog registry={{ id: at.id }} project={project.name} repository={name} onClose={close} />,
        },
        {
          key: 'about',
          call: repositories.update,
          label: t('repository.aboutEdit'),
          disabledReason: notOwn,
          dialog: (close) => <AboutDialog at={at} description={description} onClose={close} />,
        },
        {
          key: 'delete',
          call: repositories.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason: notOwn,
          confirm: { title: t('repository.deleteTitle', { name }), body: t('repository.deleteBodyAny', { tags }) },
          doneText: t('deleted', { name }),
          run: async () => {
            await remove.mutateAsync({ params: at })
            void navigate(list, { replace: true })
          },
        },
      ]}
      facts={({ image, project, registry, tag_count, used_bytes, pull_count, pushed_at, pulled_at }) => [
        { key: 'image', label: t('repository.pull'), value: <CopyCode text={`docker pull ${image}`} /> },
        { key: 'project', label: t('repository.project'), value: <Link to={list}>{project.name}</Link> },
        { key: 'registry', label: t('repository.registry'), value: registry.name },
        { key: 'tags', label: t('column.tags'), value: tag_count },
        { key: 'used', label: t('column.used'), value: format.bytes(used_bytes) },
        { key: 'pulls', label: t('column.pulls'), value: format.number(pull_count) },
        { key: 'pushed', label: t('column.pushed'), value: format.dateTime(pushed_at) },
        { key: 'pulled', label: t('column.pulled'), value: format.dateTime(pulled_at) },
      ]}
      tabs={({ image, project, description, sizes }) => [
        { key: 'tags', label: t('tag.tab'), content: <TagTable at={at} image={image} project={project.name} notOwn={notOwn} /> },
        {
          key: 'about',
          label: t('repository.about'),
          content:
            description === '' ? (
              <EmptyState title={t('repository.aboutEmpty')}>{t('repository.aboutNote')}</EmptyState>
            ) : (
              <Suspense>
                <Prose markdown={description} />
              </Suspense>
            ),
        },
        { key: 'sizes', label: t('repository.sizes'), content: <Sizes sizes={sizes} /> },
      ]}
    />
  )
}

const dayMs = 24 * 3_600_000

function Sizes({ sizes }: Pick<ResponseOf<typeof repositories.get>, 'sizes'>) {
  const { t } = useTranslation('mirror')
  const points = sizes.map(({ at, used_bytes }) => [Date.parse(at), used_bytes] as const)
  const until = Date.now()
  return (
    <MetricChart
      title={t('repository.sizesTitle')}
      series={[{ name: t('repository.sizesTitle'), points }]}
      format={format.bytes}
      from={Math.min(points[0]?.[0] ?? until, until - dayMs)}
      until={until}
      base={1024}
    />
  )
}
