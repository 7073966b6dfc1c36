import { networkStatuses } from '@zhisuan/contract/compute/network'
import { computeRouters, type ComputeRouter } from '@zhisuan/contract/compute/router'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { networkTones } from './networkText.ts'
import { RouterCreate } from './RouterDialogs.tsx'
import { useRouterActions } from './useRouterActions.tsx'

/** Routers of the chosen cloud: what they join, and where they lead out. */
export default function RouterList() {
  const { t } = useTranslation('computeNetwork')
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const { actionsOf } = useRouterActions(cloudId ?? '')
  return (
    <ComputePage>
      {() => (
        <CloudTable
          call={computeRouters.list}
          cloudId={cloudId}
          columns={(name) => routerColumns(t, platform, name)}
          filters={[filter.oneOf('status', t('column.status'), networkStatuses, (value) => t(`status.${value}`)), filter.keyword(t('keyword.router'))]}
          textOf={({ name, id, description, gateway }) => `${name} ${id} ${description} ${gateway?.addresses.join(' ') ?? ''}`}
          matches={{ status: ({ status }, value) => status === value }}
          sortBy={{ name: ({ name }) => name, status: ({ status }) => status }}
          sortFirst="name"
          passing={({ status }) => status === 'building'}
          rowActions={actionsOf}
          create={{
            call: computeRouters.create,
            label: t('router.create'),
            dialog: (close) => cloudId !== null && <RouterCreate cloudId={cloudId} onClose={close} />,
          }}
          empty={{ title: t('router.empty'), note: t('router.emptyNote') }}
        />
      )}
    </ComputePage>
  )
}

const routerColumns = (t: TFunction<'computeNetwork'>, platform: boolean, name: (id: string | null) => string): readonly Column<ComputeRouter>[] => [
  col.name('name', t('column.name'), (router) => (router.name === '' ? router.id : router.name), {
    sort: true,
    to: ({ id }) => paths.compute.router.detail(id),
    note: ({ description }) => description,
  }),
  col.status(
    'status',
    t('column.status'),
    ({ status, enabled }) => ({ tone: networkTones[status], text: t(`status.${status}`), note: enabled ? null : t('disabled') }),
    { sort: true },
  ),
  col.text('gateway', t('router.gateway'), ({ gateway }) => (gateway === null ? null : name(gateway.network_id)), {
    width: 150,
    note: ({ gateway }) => gateway?.addresses.join('、') ?? '',
  }),
  col.text('snat', t('router.snat'), ({ gateway }) => (gateway === null ? null : t(gateway.snat ? 'on' : 'off')), { width: 90 }),
  col.tags('subnets', t('router.subnets'), ({ interfaces }) => interfaces.flatMap(({ addresses }) => addresses.map(({ subnet_id }) => name(subnet_id)))),
  col.number('routes', t('router.routes'), ({ routes }) => routes.length, { width: 90 }),
  col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 150 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
