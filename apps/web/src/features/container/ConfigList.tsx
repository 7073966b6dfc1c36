import { configs, type Config } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../paths.ts'

/** Configs: texts that containers have as files. */
export default function ConfigList() {
  const { t } = useTranslation('container')
  const remove = useChange(configs.delete, { invalidates: [configs.list] })
  const toConfig = ({ id }: Config): string => withQuery(paths.container.configuration.detail(), { id })
  const actionsOf = (row: Config): readonly Action[] => [
    { key: 'edit', call: configs.put, label: t('config.edit'), href: toConfig(row) },
    {
      key: 'delete',
      call: configs.delete,
      label: t('config.delete'),
      danger: true,
      disabledReason: row.used_by > 0 ? t('config.inUse', { count: row.used_by }) : null,
      confirm: { title: t('config.deleteTitle', { name: row.name }), body: t('config.deleteBody') },
      run: async () => {
        await remove.mutateAsync({ params: { id: row.id } })
        notify('success', t('config.deleted', { name: row.name }))
      },
    },
  ]
  return (
    <ResourceTable
      call={configs.list}
      columns={[
        col.name<Config>('name', t('column.name'), ({ name }) => name, { sort: true, to: toConfig, note: ({ description }) => description }),
        col.number<Config>('used_by', t('column.usedBy'), ({ used_by }) => used_by, { width: 120 }),
        col.number<Config>('revision', t('column.revision'), ({ revision }) => revision, { width: 80 }),
        col.date<Config>('updated_at', t('column.updated'), ({ updated_at }) => updated_at, { sort: true }),
        col.text<Config>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110 }),
        col.date<Config>('created', t('column.created'), ({ created_at }) => created_at, { off: true }),
        col.code<Config>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[filter.keyword(t('filter.keyword'))]}
      rowActions={actionsOf}
      create={{ call: configs.put, label: t('config.create'), href: paths.container.configuration.detail() }}
      empty={{ title: t('config.empty'), note: t('config.emptyNote') }}
    />
  )
}
