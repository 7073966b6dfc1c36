import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { splitRuns, type SplitLine, type SplitRun } from '@zhisuan/contract/split/contract'
import { useState } from 'react'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { CopyCode } from '../../kit/CopyCode.tsx'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { OrderNumber } from './SoldLines.tsx'
import { meterText } from './splitTexts.ts'
import './split.css'

const pageSize = 20

/** A statement: who has what of it, by which lines, and the chain that it is a part of. */
export default function RunDetail({ id, onClose }: Dialog<{ id: string }>) {
  const { t } = useTranslation('split')
  const { data: run, error, refetch } = useCall(splitRuns.get, { params: { id } }, { silent: true })
  return (
    <Drawer open size={1_100} title={run === undefined ? '' : `${t('run.detailTitle', { period: run.period })} · ${run.contract.name}`} onClose={onClose}>
      {run === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 8 }} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Statement run={run} />
      )}
    </Drawer>
  )
}

function Statement({ run }: { readonly run: SplitRun }) {
  const { t } = useTranslation('split')
  const [page, setPage] = useState(1)
  const { data, error, refetch, isFetching } = useCall(
    splitRuns.lines,
    { params: { id: run.id }, query: { page_num: page, page_size: pageSize } },
    { silent: true },
  )
  const lines = data?.items ?? []
  return (
    <>
      <dl className="sp-tiles">
        <div>
          <dt>{t('column.base')}</dt>
          <dd>{format.exactMoney(run.base)}</dd>
        </div>
        {run.shares.map(({ party, amount }) => (
          <div key={party.name}>
            <dt>{party.name}</dt>
            <dd>{format.exactMoney(amount)}</dd>
          </div>
        ))}
        <div>
          <dt>{t('run.adjustment')}</dt>
          <dd>{format.exactMoney(run.adjustment)}</dd>
        </div>
      </dl>
      <p>
        {run.confirmed_at !== null && `${t('run.confirmedBy')}：${run.confirmed_by ?? t('run.byTime')} ${format.dateTime(run.confirmed_at)}　`}
        {run.paid_at !== null && `${t('run.paidBy')}：${run.paid_by ?? ''} ${format.dateTime(run.paid_at)} ${run.paid_reference ?? ''}`}
      </p>
      {run.dispute !== null && <blockquote>{run.dispute}</blockquote>}
      {run.answer !== null && <blockquote>{run.answer}</blockquote>}
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      <div className="sp-scroll sp-lines" role="region" aria-label={t('figures.lines')} tabIndex={0}>
        <Table<SplitLine>
          size="small"
          rowKey="id"
          loading={isFetching && data === undefined}
          dataSource={lines}
          pagination={{ current: page, pageSize, total: data?.total ?? 0, showSizeChanger: false, onChange: setPage }}
          columns={[
            col.text<SplitLine>('kind', t('column.kind'), ({ kind }) => t(`lineKind.${kind}`), { width: 80 }),
            col.date<SplitLine>('from', t('column.at'), ({ from }) => from),
            col.text<SplitLine>('meter', t('column.meter'), ({ meter }) => (meter === null ? null : meterText(t, meter)), { width: 70 }),
            col.text<SplitLine>('model', t('column.model'), ({ model }) => model, { width: 150, note: ({ cards }) => cards.join(' ') }),
            col.text<SplitLine>('rental', t('column.rental'), ({ rental }) => rental?.name, { width: 110, note: ({ payer }) => payer ?? '' }),
            col.custom<SplitLine>('order', t('column.order'), ({ order }) => <OrderNumber order={order} />, { width: 90 }),
            col.charge<SplitLine>('base', t('column.base'), ({ base }) => base, { width: 120, decimals: format.decimalsOf(lines.map(({ base }) => base)) }),
            ...run.shares.map(({ party }, index) =>
              col.charge<SplitLine>(`share-${index}`, party.name, ({ amounts }) => amounts[index], {
                width: 120,
                decimals: format.decimalsOf(lines.map(({ amounts }) => amounts[index])),
              }),
            ),
          ]}
        />
      </div>
      <h3>{t('run.hash')}</h3>
      <CopyCode text={run.hash} />
      {run.previous_hash !== null && (
        <>
          <h3>{t('run.previous')}</h3>
          <CopyCode text={run.previous_hash} />
        </>
      )}
      <p className="zs-soft">{t('run.hashNote')}</p>
    </>
  )
}
