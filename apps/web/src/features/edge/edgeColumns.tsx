import type { Edge } from '@zhisuan/contract/ecrm/edge'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../i18n.ts'
import { col, type Column } from '../../kit/columns.tsx'
import * as format from '../../kit/format.ts'
import { paths } from '../../paths.ts'
import { labelText, taintText } from './edgeRules.ts'
import { EdgeState } from './EdgeState.tsx'

/** A line for each of what a node has. */
function Load({ of }: { readonly of: NonNullable<Edge['load']> }) {
  const { t } = useTranslation('edge')
  return (
    <>
      {(['cpu', 'memory', 'gpu'] as const).map((what) =>
        of[what] === null ? null : (
          <div key={what} className="zs-number">
            {t(`load.${what}`, { share: format.percent(of[what]) })}
          </div>
        ),
      )}
    </>
  )
}

/** The columns of lists of nodes. */
export const edgeColumns = (t: TFunction<'edge'>): readonly Column<Edge>[] => [
  col.name('name', t('column.name'), (edge) => edge.name, {
    sort: true,
    to: (edge) => paths.container.node.detail(edge.id),
    note: (edge) => edge.host_name ?? '',
  }),
  col.custom('status', t('column.status'), (edge) => <EdgeState edge={edge} />, { sort: true, width: 170 }),
  col.text('site', t('column.site'), (edge) => edge.site?.name, { width: 120, note: (edge) => edge.region?.name ?? '' }),
  col.code('addresses', t('column.addresses'), (edge) => edge.addresses[0], { width: 130 }),
  col.text(
    'size',
    t('column.size'),
    (edge) => (edge.cpu_cores === null ? null : t('size', { cores: edge.cpu_cores, memory: format.bytes(edge.memory_bytes) })),
    { width: 150, note: (edge) => edge.gpus.map(({ model, count }) => `${model} × ${count}`).join('、') },
  ),
  col.custom('load', t('column.load'), ({ load }) => (load === null ? format.nothing : <Load of={load} />), { width: 130 }),
  col.number('containers', t('column.containers'), (edge) => edge.container_count, { width: 80 }),
  col.tags('labels', t('column.labels'), (edge) => edge.labels.map(labelText), { width: 150 }),
  col.tags('taints', t('column.taints'), (edge) => edge.taints.map(taintText), { width: 180, off: true }),
  col.code('agent', t('column.agent'), (edge) => edge.agent_version, { width: 100, off: true }),
  col.code('docker', t('column.docker'), (edge) => edge.docker_version, { width: 100, off: true }),
  col.text('os', t('column.os'), (edge) => edge.os, { width: 200, off: true }),
  col.text('bp', t('column.organisation'), (edge) => edge.bp_name, { width: 140, off: true }),
  col.date('seen_at', t('column.seen'), (edge) => edge.seen_at, { sort: true, off: true }),
  col.date('created_at', t('column.created'), (edge) => edge.created_at, { sort: true, off: true }),
]
