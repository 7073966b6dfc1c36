import { containers, containerStatuses, type Container, type ContainerStatus } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import { pageOf } from '../../kit/containerText.ts'

const tones: Readonly<Record<ContainerStatus, StatusTone>> = {
  creating: 'busy',
  running: 'good',
  exited: 'rest',
  paused: 'warning',
  restarting: 'busy',
  dead: 'bad',
  deleting: 'busy',
  error: 'bad',
  lost: 'bad',
  unknown: 'warning',
}

/** The containers that the platform runs on one node. */
export function NodeContainers({ id }: { readonly id: string }) {
  const { t } = useTranslation('edge')
  return (
    <ResourceTable
      name="containers"
      call={containers.list}
      input={{ query: { edge_id: id } }}
      columns={[
        col.name<Container>('name', t('column.name'), (one) => one.name, {
          sort: true,
          to: pageOf,
          note: (one) => one.deployment?.name ?? one.service?.name ?? '',
        }),
        col.status<Container>(
          'status',
          t('column.status'),
          (one) => ({ tone: tones[one.status], text: t(`container.status.${one.status}`), note: one.error }),
          { sort: true },
        ),
        col.code<Container>('image', t('container.image'), (one) => one.image, { width: 240 }),
        col.code<Container>(
          'ports',
          t('container.ports'),
          (one) => one.ports.map(({ host_port, container_port, protocol }) => `${host_port}→${container_port}/${protocol}`).join('、'),
          { width: 180 },
        ),
        col.text<Container>('creator', t('column.creator'), (one) => one.created_by, { width: 120, off: true }),
        col.date<Container>('started', t('container.started'), (one) => one.started_at),
        col.date<Container>('created_at', t('column.created'), (one) => one.created_at, { sort: true }),
      ]}
      filters={[
        filter.oneOf('status', t('filter.status'), containerStatuses, (value) => t(`container.status.${value}`)),
        filter.keyword(t('container.keyword')),
      ]}
      empty={{ title: t('container.none') }}
    />
  )
}
