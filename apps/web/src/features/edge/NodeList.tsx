import Button from 'antd/es/button'
import { activations, edges, edgeStatuses } from '@zhisuan/contract/ecrm/edge'
import { regions, sites } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { whilePassing } from '../../kit/whilePassing.ts'
import { useCall } from '../../api/hooks.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { edgeColumns } from './edgeColumns.tsx'
import { isUpgrading } from './edgeRules.ts'
import { useEdgeActions } from './useEdgeActions.tsx'

/** The machines at the edge that containers run on. */
export default function NodeList() {
  const { t } = useTranslation('edge')
  const navigate = useNavigate()
  const { actionsOf, batchActions } = useEdgeActions()
  const all = { query: { page_size: 1000, sort: 'name' } } as const
  const { data: places } = useCall(sites.list, all, { silent: true })
  const { data: areas } = useCall(regions.list, all, { silent: true })
  const named = (list: readonly { readonly id: string; readonly name: string }[] | undefined) =>
    (list ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const add = (
    <Button type="primary" onClick={() => void navigate(paths.container.node.add())}>
      {t('list.add')}
    </Button>
  )
  return (
    <ResourceTable
      call={edges.list}
      rows={({ items }) => items}
      rowKey="id"
      columns={edgeColumns(t)}
      filters={[
        filter.select(
          'status',
          t('filter.status'),
          edgeStatuses.map((value) => ({ value, label: t(`status.${value}`) })),
        ),
        filter.select(
          'activation',
          t('filter.activation'),
          activations.map((value) => ({ value, label: t(`activation.${value}`) })),
        ),
        filter.select('region_id', t('filter.region'), named(areas?.items)),
        filter.select('site_id', t('filter.site'), named(places?.items)),
        filter.select('gpu', t('filter.gpu'), [
          { value: 'true', label: t('filter.withGpu') },
          { value: 'false', label: t('filter.withoutGpu') },
        ]),
        filter.keyword(t('filter.labels'), 'labels'),
        filter.keyword(t('filter.keyword')),
      ]}
      rowActions={actionsOf}
      batchActions={batchActions}
      toolbar={add}
      refreshMs={(response) => whilePassing(response?.items, isUpgrading)}
      empty={
        <EmptyState title={t('list.empty')} action={add}>
          {t('list.emptyNote')}
        </EmptyState>
      }
    />
  )
}
