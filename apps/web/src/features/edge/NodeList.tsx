import { activations, edges, edgeStatuses } from '@zhisuan/contract/ecrm/edge'
import { regions, sites } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { edgeColumns } from './edgeColumns.tsx'
import { isUpgrading } from './edgeRules.ts'
import { useEdgeActions } from './useEdgeActions.tsx'

/** The machines at the edge that containers run on. */
export default function NodeList() {
  const { t } = useTranslation('edge')
  const { actionsOf, batchActions } = useEdgeActions()
  const all = { query: { page_size: 1000, sort: 'name' } } as const
  const { data: places } = useCall(sites.list, all, { silent: true })
  const { data: areas } = useCall(regions.list, all, { silent: true })
  return (
    <ResourceTable
      call={edges.list}
      columns={edgeColumns(t)}
      filters={[
        filter.oneOf('status', t('filter.status'), edgeStatuses, (value) => t(`status.${value}`)),
        filter.oneOf('activation', t('filter.activation'), activations, (value) => t(`activation.${value}`)),
        filter.named('region_id', t('filter.region'), areas?.items),
        filter.named('site_id', t('filter.site'), places?.items),
        filter.select('gpu', t('filter.gpu'), [
          { value: 'true', label: t('filter.withGpu') },
          { value: 'false', label: t('filter.withoutGpu') },
        ]),
        filter.keyword(t('filter.labels'), 'labels'),
        filter.keyword(t('filter.keyword')),
      ]}
      rowActions={actionsOf}
      batchActions={batchActions}
      create={{ call: edges.create, label: t('list.add'), href: paths.container.node.add() }}
      passing={isUpgrading}
      empty={{ title: t('list.empty'), note: t('list.emptyNote') }}
    />
  )
}
