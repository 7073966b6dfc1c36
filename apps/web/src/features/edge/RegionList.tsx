import { regions, type Region } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../paths.ts'
import { invalidatedBySite } from './edgeRules.ts'
import { RegionDialog } from './RegionDialog.tsx'

/** The largest units of the edge; sites stand in them. */
export default function RegionList() {
  const { t } = useTranslation('edge')
  const remove = useChange(regions.delete, { invalidates: invalidatedBySite })
  const actionsOf = (region: Region): readonly Action[] => [
    {
      key: 'edit',
      call: regions.update,
      label: t('action.edit'),
      dialog: (close) => <RegionDialog region={region} onClose={close} />,
    },
    {
      key: 'delete',
      call: regions.delete,
      label: t('action.delete'),
      danger: true,
      disabledReason: region.site_count > 0 ? t('region.hasSites', { count: region.site_count }) : null,
      confirm: { title: t('region.deleteTitle', { name: region.name }), body: t('region.deleteBody') },
      doneText: t('delete.done', { name: region.name }),
      run: () => remove.mutateAsync({ params: { id: region.id } }),
    },
  ]
  return (
    <>
      <ResourceTable
        call={regions.list}
        columns={[
          col.name<Region>('name', t('column.name'), (region) => region.name, {
            sort: true,
            to: (region) => withQuery(paths.platform.site.list(), { region_id: region.id }),
            note: (region) => region.description,
          }),
          col.text<Region>('nation', t('region.nation'), (region) => region.nation_name, { width: 160, note: (region) => region.nation }),
          col.number<Region>('sites', t('region.sites'), (region) => region.site_count, { width: 90 }),
          col.number<Region>('edges', t('region.edges'), (region) => region.edge_count, { width: 90 }),
          col.date<Region>('updated', t('column.updated'), (region) => region.updated_at),
          col.date<Region>('created_at', t('column.created'), (region) => region.created_at, { sort: true }),
        ]}
        filters={[filter.keyword(t('region.keyword'))]}
        rowActions={actionsOf}
        create={{ call: regions.create, label: t('region.create'), dialog: (close) => <RegionDialog region={null} onClose={close} /> }}
        empty={{ title: t('region.none'), note: t('region.noneNote') }}
      />
    </>
  )
}
