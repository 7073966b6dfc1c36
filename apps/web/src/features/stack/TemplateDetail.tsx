import type { UseQueryResult } from '@tanstack/react-query'
import Table from 'antd/es/table'
import Tag from 'antd/es/tag'
import { templates, type Template, type Variable } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import type { ApiError } from '../../api/client.ts'
import { useCall } from '../../api/hooks.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { paths } from '../../paths.ts'
import { CodeEditor } from './CodeEditor.tsx'
import { labelled } from './labelled.ts'
import { stackPaths } from './stackPaths.ts'
import { useTemplateActions } from './useTemplateActions.ts'
import { templateGone } from './stackRules.ts'
import '../../kit/table.css'

/** One version of a template: its file, what it asks for, and the other versions. */
export function TemplateDetail({ query }: { readonly query: UseQueryResult<Template, ApiError> }) {
  const { t } = useTranslation('application')
  const navigate = useNavigate()
  const { ofVersion } = useTemplateActions(() => void navigate(paths.container.template.list()))
  return (
    <DetailPage
      query={query}
      gone={templateGone(t)}
      title={({ name, version }) => `${name} ${version}`}
      actions={ofVersion}
      facts={(one) => [
        { key: 'version', label: t('column.version'), value: one.version },
        {
          key: 'labels',
          label: t('column.labels'),
          value: one.labels.length === 0 ? format.nothing : one.labels.map((label) => <Tag key={label}>{label}</Tag>),
        },
        { key: 'creator', label: t('column.creator'), value: one.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(one.created_at) },
        { key: 'updated', label: t('column.updated'), value: format.dateTime(one.updated_at) },
        { key: 'description', label: t('column.description'), value: one.description === '' ? format.nothing : one.description },
      ]}
      tabs={(one) => [
        { key: 'file', label: t('compose.label'), content: <CodeEditor label={t('compose.label')} value={one.compose} /> },
        { key: 'variables', label: t('template.variableCount', { count: one.variables.length }), content: <VariableTable variables={one.variables} /> },
        { key: 'versions', label: t('template.versionCount', { count: one.version_count }), content: <VersionTable current={one} /> },
      ]}
    />
  )
}

function VariableTable({ variables }: { readonly variables: readonly Variable[] }) {
  const { t } = useTranslation('application')
  if (variables.length === 0) return <p className="zs-soft">{t('variable.none')}</p>
  return (
    <section className="zs-table">
      <Table<Variable>
        size="small"
        rowKey="name"
        pagination={false}
        dataSource={[...variables]}
        columns={labelled<Variable>([
          col.code('name', t('variable.name'), ({ name }) => name, { width: 180 }),
          col.text('label', t('variable.label'), ({ label }) => label, { width: 160 }),
          col.text('type', t('variable.type'), ({ type }) => t(`variable.types.${type}`), { width: 100 }),
          col.text('required', t('variable.required'), ({ required }) => t(required ? 'variable.yes' : 'variable.no'), { width: 80 }),
          // What a template begins with is no secret of a stack; what is called a password is hidden all the same.
          col.code('default', t('variable.default'), ({ type, default: value }) => (type === 'password' && value !== null && value !== '' ? '••••••' : value), {
            width: 200,
          }),
          col.text('choices', t('variable.choices'), ({ choices }) => choices.join('、'), { width: 200 }),
        ])}
      />
    </section>
  )
}

function VersionTable({ current }: { readonly current: Template }) {
  const { t } = useTranslation('application')
  const navigate = useNavigate()
  const { ofVersion } = useTemplateActions((which) => {
    if (which === 'all') void navigate(paths.container.template.list())
  })
  const { data } = useCall(templates.versions, { params: { id: current.id } }, { silent: true })
  return (
    <section className="zs-table">
      <Table<Template>
        size="small"
        rowKey="id"
        pagination={false}
        loading={data === undefined}
        dataSource={[...(data?.items ?? [])]}
        columns={labelled<Template>([
          col.name('version', t('column.version'), ({ version }) => version, {
            to: ({ id }) => stackPaths.version(id),
            note: ({ id }) => (id === current.id ? t('template.this') : ''),
          }),
          col.text('description', t('column.description'), ({ description }) => description, { width: 260 }),
          col.number('variables', t('column.variables'), ({ variables }) => variables.length, { width: 80 }),
          col.text('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110 }),
          col.date('created', t('column.created'), ({ created_at }) => created_at),
          {
            key: '@actions',
            title: t('column.actions'),
            width: 150,
            render: (_, row) => <ActionMenu actions={row.id === current.id ? [] : ofVersion(row)} />,
          },
        ])}
      />
    </section>
  )
}
