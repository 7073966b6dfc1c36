import Pagination from 'antd/es/pagination'
import { eipPools, type EipPool } from '@zhisuan/contract/nextstack/eip'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { useOne, useCall } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { PagePlaceholder } from '../../../kit/Placeholder.tsx'
import { paths } from '../../../paths.ts'
import { rangesText } from './eipRules.ts'
import './network.css'
import { usePoolActions } from './usePoolActions.tsx'

const states = ['free', 'allocated', 'bound', 'excluded'] as const
const perPage = 256

/** One pool of outside addresses, and who has which. */
export default function EipPoolDetail() {
  const { t } = useTranslation('network')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(eipPools.get, { params: { id } }, { refreshMs: 5_000 })
  const { actionsOf } = usePoolActions(() => void navigate(paths.nextstack.eipPool.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('pool.gone'), to: paths.nextstack.eipPool.list(), back: t('pool.back') }}
      title={(pool) => pool.name}
      actions={actionsOf}
      facts={(pool) => [
        { key: 'ranges', label: t('pool.column.ranges'), value: <span className="zs-code nt-lines">{rangesText(pool.ranges)}</span> },
        {
          key: 'excluded',
          label: t('pool.excluded'),
          value: pool.excluded.length === 0 ? t('none') : <span className="zs-code nt-lines">{pool.excluded.join('\n')}</span>,
        },
        { key: 'used', label: t('pool.column.used'), value: t('size.addresses', { used: pool.address_used, count: pool.address_count }) },
        {
          key: 'visibility',
          label: t('pool.column.visibility'),
          value: pool.public ? t('pool.public') : pool.organisations.map(({ name }) => name).join('、'),
        },
        {
          key: 'bandwidth',
          label: t('eip.column.bandwidth'),
          value: pool.max_bandwidth_mbps === null ? t('eip.unlimited') : t('eip.mbps', { count: pool.max_bandwidth_mbps }),
        },
        { key: 'created', label: t('column.created'), value: format.dateTime(pool.created_at) },
        { key: 'description', label: t('column.description'), value: pool.description === '' ? format.nothing : pool.description },
      ]}
      tabs={(pool) => [{ key: 'occupancy', label: t('pool.occupancy'), content: <Occupancy pool={pool} /> }]}
    />
  )
}

/** Every address as a small box: which are free is seen at a glance, who has one is read from it. */
function Occupancy({ pool }: { readonly pool: EipPool }) {
  const { t } = useTranslation('network')
  const [page, setPage] = useState(1)
  const { data, error, refetch } = useCall(
    eipPools.occupancy,
    { params: { id: pool.id }, query: { page_num: page, page_size: perPage } },
    { silent: true, refreshMs: 5_000 },
  )
  if (data === undefined) return error === null ? <PagePlaceholder /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <>
      <ul className="nt-legend">
        {states.map((state) => (
          <li key={state}>
            <span className="nt-cell" data-state={state} aria-hidden="true" /> {t(`pool.state.${state}`)}
          </li>
        ))}
      </ul>
      <ul className="nt-cells">
        {data.items.map(({ address, state, bp_name }) => {
          const text = { address, state: t(`pool.state.${state}`) }
          const label = bp_name === null ? t('pool.cell', text) : t('pool.cellOf', { ...text, organisation: bp_name })
          return (
            <li key={address} className="nt-cell" data-state={state} title={label}>
              <span className="zs-hidden">{label}</span>
            </li>
          )
        })}
      </ul>
      {data.total > perPage && <Pagination size="small" current={page} pageSize={perPage} total={data.total} showSizeChanger={false} onChange={setPage} />}
    </>
  )
}
