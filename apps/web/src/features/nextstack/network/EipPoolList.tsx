import { eipPools, type EipPool } from '@zhisuan/contract/nextstack/eip'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { EipPoolDialog } from './EipPoolDialog.tsx'
import { rangesText } from './eipRules.ts'
import { usePoolActions } from './usePoolActions.tsx'

/** Pools of outside addresses on the chosen cloud, for administrators. */
export default function EipPoolList() {
  const { t } = useTranslation('network')
  const cloud = useNextStackCloud()
  const { actionsOf } = usePoolActions()
  return (
    <NextStackPage>
      <ResourceTable
        call={eipPools.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        columns={poolColumns(t)}
        filters={[filter.keyword(t('pool.keyword'))]}
        rowActions={actionsOf}
        create={{
          call: eipPools.create,
          label: t('pool.create'),
          dialog: (close) => cloud !== null && <EipPoolDialog cloudId={cloud.cloud_id} pool={null} onClose={close} />,
        }}
        empty={{ title: t('pool.empty', { cloud: cloud?.name ?? '' }), note: t('pool.emptyNote') }}
      />
    </NextStackPage>
  )
}

const poolColumns = (t: TFunction<'network'>): readonly Column<EipPool>[] => [
  col.name('name', t('column.name'), (pool) => pool.name, {
    sort: true,
    to: (pool) => paths.nextstack.eipPool.detail(pool.id),
    note: (pool) => pool.description,
  }),
  col.code('ranges', t('pool.column.ranges'), (pool) => rangesText(pool.ranges).replaceAll('\n', '、')),
  col.custom(
    'used',
    t('pool.column.used'),
    (pool) => <span className="zs-number">{t('size.addresses', { used: pool.address_used, count: pool.address_count })}</span>,
    { width: 120 },
  ),
  col.text('visibility', t('pool.column.visibility'), (pool) => (pool.public ? t('pool.public') : t('pool.chosen', { count: pool.organisations.length })), {
    width: 120,
  }),
  col.text(
    'bandwidth',
    t('eip.column.bandwidth'),
    (pool) => (pool.max_bandwidth_mbps === null ? t('eip.unlimited') : t('eip.mbps', { count: pool.max_bandwidth_mbps })),
    { width: 110 },
  ),
  col.date('created_at', t('column.created'), (pool) => pool.created_at, { sort: true }),
]
