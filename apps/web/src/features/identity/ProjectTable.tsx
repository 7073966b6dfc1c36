import { keptProjects, type KeptProject } from '@zhisuan/contract/iam/project'
import { useTranslation } from '../../i18n.ts'
import type { ReactNode } from 'react'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import type { Named } from '../../kit/SearchSelect.tsx'
import { withQuery } from '../../paths.ts'
import { useProjectActions } from './useProjectActions.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** Projects of all organisations, or of one. */
export function ProjectTable({
  name,
  organisation,
  toolbar,
}: {
  readonly name?: string
  readonly organisation?: Named | undefined
  readonly toolbar?: ReactNode
}) {
  const { t } = useTranslation('identity')
  const { everybody, pages } = useKeeping()
  const { actionsOf } = useProjectActions()
  return (
    <ResourceTable
      {...(name !== undefined && { name })}
      call={keptProjects.list}
      input={{ query: { ...(organisation !== undefined && { bp_id: organisation.id }) } }}
      columns={[
        col.name<KeptProject>('name', t('column.name'), (project) => project.name, {
          sort: true,
          width: 220,
          to: ({ id }) => pages.project.detail(id),
          note: ({ description }) => description,
        }),
        col.code<KeptProject>('key', t('column.key'), ({ key }) => key, { sort: true, width: 160 }),
        col.text<KeptProject>('organisation', t('column.organisation'), ({ bp_name }) => bp_name ?? t('platform'), {
          when: everybody && organisation === undefined,
          to: ({ bp_id }) => (bp_id === null || !everybody ? null : withQuery(pages.partners(), { id: bp_id, tab: 'projects' })),
          width: 180,
        }),
        col.number<KeptProject>('members', t('column.members'), ({ member_count }) => member_count, { width: 80 }),
        col.date<KeptProject>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        col.code<KeptProject>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[filter.keyword(t('project.keyword'))]}
      rowActions={actionsOf}
      create={{ call: keptProjects.create, label: t('project.create'), href: withQuery(pages.project.add(), { bp_id: organisation?.id }) }}
      toolbar={toolbar}
      empty={{ title: t('project.empty'), note: t('project.emptyNote') }}
    />
  )
}
