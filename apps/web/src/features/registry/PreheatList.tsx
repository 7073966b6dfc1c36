import { preheatCan, preheats, preheatStatuses, type Preheat } from '@zhisuan/contract/ims/preheat'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { allowed } from '../../kit/allowed.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { invalidatedByPreheat, preheatTones } from './preheatRules.ts'

const PreheatDialog = lazy(() => import('./PreheatDialog.tsx'))
const PreheatDetail = lazy(() => import('./PreheatDetail.tsx'))

/** Orders to bring images to nodes, and how far each is. */
export default function PreheatList() {
  const { t } = useTranslation('mirror')
  const remove = useChange(preheats.delete, { invalidates: invalidatedByPreheat, silent: true })
  const retry = useChange(preheats.retry, { invalidates: invalidatedByPreheat, silent: true })
  return (
    <ResourceTable
      call={preheats.list}
      columns={[
        col.name<Preheat>('images', t('column.image'), ({ images }) => images[0] ?? '', {
          width: 320,
          note: ({ images }) => (images.length > 1 ? t('preheat.more', { count: images.length - 1 }) : ''),
        }),
        col.text<Preheat>('from', t('preheat.from'), ({ registry, third_registry: third }) => (registry ?? third)?.name, { width: 140 }),
        col.status<Preheat>('status', t('column.status'), ({ status }) => ({ tone: preheatTones[status], text: t(`preheat.status.${status}`) }), {
          width: 110,
        }),
        col.text<Preheat>('nodes', t('preheat.progress'), (row) => t('preheat.nodesOf', { done: row.done_count, all: row.node_count }), {
          width: 170,
          note: ({ failed_count: failed, away_count: away }) =>
            [failed > 0 ? t('preheat.failed', { count: failed }) : '', away > 0 ? t('preheat.away', { count: away }) : ''].filter(Boolean).join('，'),
        }),
        col.date<Preheat>('starts_at', t('preheat.startsAt'), ({ starts_at }) => starts_at, { sort: true }),
        col.date<Preheat>('ended_at', t('preheat.endedAt'), ({ ended_at }) => ended_at),
        col.text<Preheat>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110 }),
        col.date<Preheat>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
      ]}
      passing={({ status }) => status === 'waiting' || status === 'running'}
      filters={[filter.oneOf('status', t('column.status'), preheatStatuses, (one) => t(`preheat.status.${one}`)), filter.keyword(t('preheat.keyword'))]}
      rowActions={({ id, status, images }) => {
        const name = images[0] ?? ''
        const whyNot = (action: keyof typeof preheatCan) => allowed(preheatCan, action, status, t(`preheat.status.${status}`))
        return [
          { key: 'detail', call: preheats.get, label: t('preheat.detail'), dialog: (close) => <PreheatDetail id={id} onClose={close} /> },
          {
            key: 'cancel',
            call: preheats.delete,
            label: t('preheat.cancel'),
            disabledReason: whyNot('cancel'),
            confirm: { title: t('preheat.cancelTitle', { name }), body: t('preheat.cancelBody') },
            doneText: t('preheat.cancelled'),
            run: () => remove.mutateAsync({ query: { ids: id, keep: 'true' } }),
          },
          {
            key: 'retry',
            call: preheats.retry,
            label: t('preheat.retry'),
            disabledReason: whyNot('retry'),
            doneText: t('preheat.retried'),
            run: () => retry.mutateAsync({ params: { id } }),
          },
          {
            key: 'delete',
            call: preheats.delete,
            label: t('action.delete'),
            danger: true,
            disabledReason: whyNot('delete'),
            confirm: { title: t('preheat.deleteTitle', { name }), body: t('preheat.deleteBody') },
            doneText: t('preheat.deleted'),
            run: () => remove.mutateAsync({ query: { ids: id } }),
          },
        ]
      }}
      create={{ call: preheats.create, label: t('preheat.create'), dialog: (close) => <PreheatDialog third={null} onClose={close} /> }}
      empty={{ title: t('preheat.empty'), note: t('preheat.emptyNote') }}
    />
  )
}
