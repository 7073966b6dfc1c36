import { storagePools, type StoragePool } from '@zhisuan/contract/nextstack/volume'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { CapacityBar } from './CapacityBar.tsx'
import { PoolState } from './PoolState.tsx'
import { reachOf } from './storageRules.ts'

/** Storage pools of the chosen cloud, for administrators. */
export default function StoragePoolList() {
  const { t } = useTranslation('storage')
  const cloud = useNextStackCloud()
  return (
    <NextStackPage>
      <ResourceTable
        call={storagePools.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        columns={poolColumns(t)}
        filters={[filter.keyword(t('pool.keyword'))]}
        empty={{ title: t('pool.empty', { cloud: cloud?.name ?? '' }), note: t('pool.emptyNote') }}
      />
    </NextStackPage>
  )
}

const poolColumns = (t: TFunction<'storage'>): readonly Column<StoragePool>[] => [
  col.name('name', t('column.name'), (pool) => pool.name, {
    sort: true,
    to: (pool) => paths.nextstack.storagePool.detail(pool.id),
    note: (pool) => pool.description,
  }),
  col.custom('status', t('column.status'), (pool) => <PoolState pool={pool} />, { width: 100 }),
  col.text('driver', t('pool.column.driver'), (pool) => pool.driver, { width: 110, note: (pool) => t(`pool.${reachOf(pool)}`) }),
  col.custom('used_bytes', t('pool.column.capacity'), (pool) => <CapacityBar label={pool.name} used={pool.used_bytes} total={pool.total_bytes} />, {
    sort: true,
    width: 240,
  }),
  col.text('promised', t('pool.column.promised'), (pool) => format.bytes(pool.promised_bytes), { width: 110 }),
  col.number('volumes', t('pool.column.volumes'), (pool) => pool.volume_count, { width: 90 }),
  col.text('enforces', t('pool.column.enforces'), (pool) => t(pool.enforces_size ? 'pool.enforces' : 'pool.keeps'), { width: 110 }),
  col.date('seen_at', t('pool.column.seen'), (pool) => pool.seen_at, { off: true }),
]
