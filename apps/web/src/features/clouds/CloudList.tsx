import { cloudProducts, clouds, cloudStatuses } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { cloudColumns } from './cloudColumns.tsx'
import { CloudDetailDrawer, withPart } from './CloudDetailDrawer.tsx'
import { CloudDrawer } from './CloudDrawer.tsx'
import { useCloudActions } from './useCloudActions.tsx'

/** The clouds that the platform manages: how each is, how full, and what it can run. */
export default function CloudList() {
  const { t } = useTranslation(['clouds', 'shell'])
  const [search, setSearch] = useSearchParams()
  const seen = search.get('cloud')
  // Filters and page stay.
  const withCloud = (id: string | null): URLSearchParams => {
    const next = withPart(search, null)
    if (id === null) next.delete('cloud')
    else next.set('cloud', id)
    return next
  }
  const actionsOf = useCloudActions()
  return (
    <>
      <ResourceTable
        call={clouds.list}
        rows={(response) => response.clouds}
        rowKey="cloud_id"
        columns={cloudColumns(t, (cloud) => `?${withCloud(cloud.cloud_id).toString()}`)}
        filters={[
          filter.oneOf('product', t('filter.product'), cloudProducts, (value) => t(`product.${value}`)),
          filter.oneOf('status', t('filter.status'), cloudStatuses, (value) => t(`shell:cloud.status.${value}`)),
          filter.keyword(t('filter.keyword')),
        ]}
        rowActions={actionsOf}
        create={{ call: clouds.create, label: t('list.create'), dialog: (close) => <CloudDrawer cloud={null} onClose={close} /> }}
        empty={{ title: t('list.empty'), note: t('list.emptyNote') }}
      />
      {seen !== null && <CloudDetailDrawer cloudId={seen} onClose={() => setSearch(withCloud(null))} />}
    </>
  )
}
