import Button from 'antd/es/button'
import { cloudProducts, clouds, cloudStatuses } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router'
import { useDialog } from '../../kit/dialogs.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
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
  const openDialog = useDialog()
  const actionsOf = useCloudActions()
  const create = (
    <Button type="primary" onClick={() => openDialog((close) => <CloudDrawer cloud={null} onClose={close} />)}>
      {t('list.create')}
    </Button>
  )
  return (
    <>
      <ResourceTable
        call={clouds.list}
        rows={(response) => response.clouds}
        rowKey="cloud_id"
        columns={cloudColumns(t, (cloud) => `?${withCloud(cloud.cloud_id).toString()}`)}
        filters={[
          filter.select(
            'product',
            t('filter.product'),
            cloudProducts.map((value) => ({ value, label: t(`product.${value}`) })),
          ),
          filter.select(
            'status',
            t('filter.status'),
            cloudStatuses.map((value) => ({ value, label: t(`shell:cloud.status.${value}`) })),
          ),
          filter.keyword(t('filter.keyword')),
        ]}
        rowActions={actionsOf}
        toolbar={create}
        empty={
          <EmptyState title={t('list.empty')} action={create}>
            {t('list.emptyNote')}
          </EmptyState>
        }
      />
      {seen !== null && <CloudDetailDrawer cloudId={seen} onClose={() => setSearch(withCloud(null))} />}
    </>
  )
}
