import Drawer from 'antd/es/drawer'
import Progress from 'antd/es/progress'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { preheats } from '@zhisuan/contract/ims/preheat'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import type { Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { percentOf, targetTones, type PreheatTarget } from './preheatRules.ts'
import './registry.css'

/** How each node is at it, by image; and each layer of what is on its way. */
export default function PreheatDetail({ id, onClose }: Dialog<{ id: string }>) {
  const { t } = useTranslation('mirror')
  const { data, error, refetch } = useCall(
    preheats.get,
    { params: { id } },
    { silent: true, refreshMs: (last) => (last === undefined || last.status === 'running' || last.status === 'waiting' ? 1_000 : false) },
  )
  return (
    <Drawer open size={900} title={t('preheat.detailTitle')} onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 8 }} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Table<PreheatTarget>
          size="small"
          rowKey="id"
          pagination={{ pageSize: 50, hideOnSinglePage: true, showSizeChanger: false }}
          dataSource={data.targets}
          expandable={{
            rowExpandable: ({ layers }) => layers.length > 0,
            expandedRowRender: ({ layers }) => <Layers layers={layers} />,
          }}
          columns={[
            col.text<PreheatTarget>('node', t('column.node'), ({ node }) => node.name, { width: 130 }),
            col.code<PreheatTarget>('image', t('column.image'), ({ image }) => image, { width: 250 }),
            col.status<PreheatTarget>(
              'state',
              t('column.status'),
              ({ state, error: reason }) => ({ tone: targetTones[state], text: t(`preheat.state.${state}`), note: reason }),
              { width: 190 },
            ),
            col.custom<PreheatTarget>(
              'progress',
              t('preheat.progress'),
              (target) => {
                const percent = percentOf(target)
                return target.state !== 'pulling' ? (
                  <span className="zs-number">{target.done_bytes > 0 ? format.bytes(target.done_bytes) : format.nothing}</span>
                ) : (
                  <Progress percent={percent ?? 0} size="small" status="active" aria-label={`${target.node.name} ${target.image}`} />
                )
              },
              { width: 150 },
            ),
          ]}
        />
      )}
    </Drawer>
  )
}

function Layers({ layers }: { readonly layers: PreheatTarget['layers'] }) {
  return (
    <ul className="rg-layers">
      {layers.map(({ id, status, done_bytes: done, total_bytes: total }) => (
        <li key={id}>
          <span className="zs-code">{id}</span>
          <span>{status}</span>
          <span className="zs-number zs-soft">{total === null ? '' : `${format.bytes(Math.min(done, total))} / ${format.bytes(total)}`}</span>
        </li>
      ))}
    </ul>
  )
}
