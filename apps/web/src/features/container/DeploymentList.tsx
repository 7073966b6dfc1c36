import { containers, deployments, type Deployment } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { request } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { deploymentTones, isPassing, invalidatedByContainer } from './containerRules.ts'
import { useWithoutNode } from '../../kit/withoutNode.ts'
import { placedBy } from '../../kit/placementForm.ts'
import { told } from '../../api/tellError.ts'
import { useNodes } from './useNodes.ts'

/** Deployments: one specification, a container of it on each of several nodes. */
export default function DeploymentList() {
  const { t } = useTranslation('container')
  const withoutNode = useWithoutNode()
  const nodes = useNodes()
  const remove = useChange(deployments.delete, { invalidates: invalidatedByContainer })
  const toContainers = ({ id, name }: Deployment): string => paths.container.deployment.containers(id, name)
  const placed = ({ placement }: Deployment): string => {
    const chosen = placedBy(placement)
    return chosen.by === 'nodes' ? t('placement.nodes', { count: chosen.count }) : t('placement.labels', { labels: chosen.labels })
  }
  const act = useChange(containers.action, { invalidates: invalidatedByContainer, silent: true })
  /** What is lost of a deployment, one after the other: of many that fail the first says why. */
  const rebuild = async ({ id }: Deployment): Promise<void> => {
    const { items } = await request(deployments.instances, { params: { id }, query: { status: 'lost', page_size: 1000 } })
    for (const one of items) await act.mutateAsync({ params: { id: one.id }, body: { action: 'rebuild' } })
  }
  const actionsOf = (row: Deployment): readonly Action[] => [
    ...(row.lost_count === 0
      ? []
      : [
          {
            key: 'rebuild',
            call: containers.action,
            label: t('deployment.rebuild'),
            doneText: t('deployment.rebuilding', { name: row.name, count: row.lost_count }),
            run: () => told(rebuild(row)),
          },
        ]),
    { key: 'containers', call: null, label: t('deployment.containers'), href: toContainers(row) },
    {
      key: 'delete',
      call: deployments.delete,
      label: t('deployment.delete'),
      danger: true,
      disabledReason: row.status === 'deleting' ? t('busy', { state: t('deployment.status.deleting') }) : null,
      confirm: {
        title: t('deployment.deleteTitle', { name: row.name }),
        body: t('deployment.deleteBody', { count: row.instance_count }),
        typeToConfirm: row.name,
      },
      doneText: t('deployment.deleted', { name: row.name }),
      run: () => told(remove.mutateAsync({ params: { id: row.id } })),
    },
  ]
  return (
    <ResourceTable
      call={deployments.list}
      columns={[
        col.name<Deployment>('name', t('column.name'), ({ name }) => name, { sort: true, to: toContainers, note: ({ description }) => description }),
        col.status<Deployment>(
          'status',
          t('column.status'),
          ({ status, error, lost_count }) => ({
            tone: deploymentTones[status],
            text: t(`deployment.status.${status}`),
            note: error ?? (lost_count === 0 ? null : t('deployment.rebuildNote', { count: lost_count })),
          }),
          { width: 180 },
        ),
        col.custom<Deployment>(
          'instances',
          t('column.instances'),
          ({ running_count, instance_count }) => <span className="zs-number">{`${running_count} / ${instance_count}`}</span>,
          { width: 110 },
        ),
        col.code<Deployment>('image', t('column.image'), ({ image }) => image, { width: 180 }),
        col.text<Deployment>('placement', t('column.placement'), placed, { width: 150 }),
        col.text<Deployment>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110, off: true }),
        col.date<Deployment>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        col.code<Deployment>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[filter.named('edge_id', t('filter.node'), nodes), filter.keyword(t('filter.keyword'))]}
      rowActions={actionsOf}
      passing={isPassing}
      create={{ call: containers.deploy, label: t('deployment.create'), href: paths.container.deployment.add() }}
      empty={{ title: t('deployment.empty'), note: t('deployment.emptyNote') }}
      {...withoutNode}
    />
  )
}
