import Table from 'antd/es/table'
import { storagePools, volumes, type StoragePool } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { CloudNotice } from '../CloudNotice.tsx'
import { CapacityBar } from './CapacityBar.tsx'
import { PoolState } from './PoolState.tsx'
import { reachOf, shareOf, isPassing } from './storageRules.ts'
import { useVolumeActions } from './useVolumeActions.tsx'
import { volumeColumns } from './volumeColumns.tsx'
import './storage.css'

/** One storage pool: how full it is on each member, what it promised, and the volumes in it. */
export default function StoragePoolDetail() {
  const { t } = useTranslation('storage')
  const { id = '' } = useParams()
  const query = useOne(storagePools.get, { params: { id } }, { refreshMs: 5_000 })
  const cloud = useCloud(query.data?.cloud_id)
  return (
    <DetailPage
      query={query}
      gone={{ title: t('pool.gone'), to: paths.nextstack.storagePool.list(), back: t('pool.back') }}
      title={(pool) => pool.name}
      status={(pool) => <PoolState pool={pool} />}
      notice={() => <CloudNotice cloud={cloud} />}
      facts={(pool) => [
        {
          key: 'capacity',
          label: t('pool.column.capacity'),
          value: <CapacityBar label={t('pool.column.capacity')} used={pool.used_bytes} total={pool.total_bytes} />,
        },
        { key: 'promised', label: t('pool.column.promised'), value: <Promised pool={pool} /> },
        { key: 'volumes', label: t('pool.column.volumes'), value: format.number(pool.volume_count) },
        { key: 'driver', label: t('pool.column.driver'), value: pool.driver },
        { key: 'shared', label: t('pool.column.shared'), value: t(`pool.${reachOf(pool)}`) },
        { key: 'enforces', label: t('pool.column.enforces'), value: t(pool.enforces_size ? 'pool.enforcesNote' : 'pool.keepsNote') },
        { key: 'cloud', label: t('column.cloud'), value: cloud?.name ?? format.nothing },
        { key: 'seen', label: t('pool.column.seen'), value: format.dateTime(pool.seen_at) },
        { key: 'description', label: t('column.description'), value: pool.description === '' ? format.nothing : pool.description },
      ]}
      tabs={(pool) => [
        { key: 'volumes', label: t('tab.volumes'), content: <Volumes pool={pool} /> },
        { key: 'members', label: t('pool.members'), content: <Members pool={pool} /> },
      ]}
    />
  )
}

/** What the sizes of its volumes come to, and whether that is more than there is. */
function Promised({ pool: { promised_bytes, total_bytes } }: { readonly pool: StoragePool }) {
  const { t } = useTranslation('storage')
  const share = total_bytes === 0 ? null : promised_bytes / total_bytes
  return (
    <div>
      {format.bytes(promised_bytes)} {share !== null && <span className="zs-soft">（{format.percent(share)}）</span>}
      {share !== null && share > 1 && <div className="st-fill-near">{t('pool.over')}</div>}
    </div>
  )
}

function Members({ pool }: { readonly pool: StoragePool }) {
  const { t } = useTranslation('storage')
  return (
    <>
      <p className="zs-soft">{t(`pool.${reachOf(pool)}Note`)}</p>
      <Table<StoragePool['members'][number]>
        size="small"
        rowKey={({ member }) => member ?? ''}
        pagination={false}
        dataSource={[...pool.members].sort(
          (one, other) => (shareOf(other.used_bytes, other.total_bytes) ?? 0) - (shareOf(one.used_bytes, one.total_bytes) ?? 0),
        )}
        columns={[
          {
            key: 'member',
            title: t('pool.column.member'),
            width: 220,
            render: (_, { member }) => member ?? t(pool.shared ? 'pool.allMembers' : 'pool.oneMember'),
          },
          {
            key: 'capacity',
            title: t('pool.column.capacity'),
            width: 320,
            render: (_, { member, used_bytes, total_bytes }) => <CapacityBar label={member ?? pool.name} used={used_bytes} total={total_bytes} />,
          },
          {
            key: 'free',
            title: t('pool.column.free'),
            className: 'zs-number',
            render: (_, { used_bytes, total_bytes }) => format.bytes(Math.max(0, total_bytes - used_bytes)),
          },
        ]}
      />
    </>
  )
}

function Volumes({ pool }: { readonly pool: StoragePool }) {
  const { t } = useTranslation('storage')
  const cloud = useCloud(pool.cloud_id)
  const { actionsOf } = useVolumeActions(cloud)
  return (
    <ResourceTable
      name="volumes"
      call={volumes.list}
      input={{ query: { cloud_id: pool.cloud_id, pool: pool.name } }}
      columns={volumeColumns(t, true).filter(({ key }) => key !== 'pool')}
      filters={[filter.keyword(t('filter.keyword'))]}
      rowActions={actionsOf}
      passing={isPassing}
      empty={{ title: t('pool.noVolumes') }}
    />
  )
}
