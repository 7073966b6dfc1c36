import { templates, type Template } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useMayCall } from '../../session/user.ts'
import { stackPaths } from './stackPaths.ts'
import { Starters } from './Starters.tsx'
import { useTemplateActions } from './useTemplateActions.ts'

/** Templates, each in its newest version. */
export default function TemplateList() {
  const { t } = useTranslation('application')
  const { ofTemplate } = useTemplateActions()
  const mayMake = useMayCall(templates.create)
  const { data } = useCall(templates.list, { query: { page_size: 1000 } }, { silent: true })
  const labels = [...new Set((data?.items ?? []).flatMap((one) => one.labels))].toSorted()
  return (
    <div className="zs-card">
      <ResourceTable
        call={templates.list}
        columns={[
          col.name<Template>('name', t('column.name'), ({ name }) => name, {
            sort: true,
            to: ({ id }) => stackPaths.version(id),
            note: ({ description }) => description,
          }),
          col.text<Template>('version', t('column.version'), ({ version }) => version, { width: 110 }),
          col.number<Template>('versions', t('column.versions'), ({ version_count }) => version_count, { width: 90 }),
          col.tags<Template>('labels', t('column.labels'), (one) => one.labels, { width: 200 }),
          col.number<Template>('variables', t('column.variables'), ({ variables }) => variables.length, { width: 80 }),
          col.text<Template>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110 }),
          col.date<Template>('updated_at', t('column.updated'), ({ updated_at }) => updated_at, { sort: true }),
          col.date<Template>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
          col.code<Template>('id', t('column.id'), ({ id }) => id, { off: true }),
        ]}
        filters={[filter.oneOf('labels', t('column.labels'), labels), filter.keyword(t('filter.template'))]}
        rowActions={ofTemplate}
        create={{ call: templates.create, label: t('template.create'), href: stackPaths.newVersion() }}
        empty={{ title: t('template.empty'), note: t('template.emptyNote') }}
      />
      {mayMake && <Starters />}
    </div>
  )
}
