import { firewallGroups, firewallStatuses, type FirewallGroup } from '@zhisuan/contract/compute/firewall'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { FirewallPage } from './FirewallPage.tsx'
import { called, firewallTones } from './firewallText.ts'
import { GroupCreate } from './GroupDialogs.tsx'
import { GroupDrawer } from './GroupDrawer.tsx'
import { openAt, useOpened } from './drawerAddress.ts'
import { useGroupActions } from './useGroupActions.tsx'

/** Firewalls of the chosen cloud: what they filter, and by which policies. */
export default function GroupList() {
  return <FirewallPage>{(cloudId) => <Groups cloudId={cloudId} />}</FirewallPage>
}

function Groups({ cloudId }: { readonly cloudId: string | null }) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const { opened, hrefOf, close } = useOpened()
  const { actionsOf } = useGroupActions(cloudId ?? '', close)
  return (
    <>
      <CloudTable
        call={firewallGroups.list}
        cloudId={cloudId}
        columns={(name) => groupColumns(t, platform, name, hrefOf)}
        filters={[filter.oneOf('status', t('column.status'), firewallStatuses, (value) => t(`status.${value}`)), filter.keyword(t('keyword.group'))]}
        textOf={({ name, id, description }) => `${name} ${id} ${description}`}
        matches={{ status: ({ status }, value) => status === value }}
        sortBy={{ name: ({ name }) => name, status: ({ status }) => status, ports: ({ port_ids }) => port_ids.length }}
        sortFirst="name"
        passing={({ status }) => status.startsWith('pending_')}
        rowActions={actionsOf}
        create={{
          call: firewallGroups.create,
          label: t('group.create'),
          dialog: (close) => cloudId !== null && <GroupCreate cloudId={cloudId} onClose={close} />,
        }}
        empty={{ title: t('group.empty'), note: t('group.emptyNote') }}
      />

      {opened !== null && cloudId !== null && <GroupDrawer cloudId={cloudId} id={opened} actionsOf={actionsOf} onClose={close} />}
    </>
  )
}

const groupColumns = (
  t: TFunction<'computeFirewall'>,
  platform: boolean,
  name: (id: string | null) => string,
  hrefOf: (id: string) => string,
): readonly Column<FirewallGroup>[] => {
  const policy = (key: 'ingress' | 'egress') =>
    col.text<FirewallGroup>(key, t(`column.${key}`), (group) => (group[`${key}_policy_id`] === null ? t('group.unset') : name(group[`${key}_policy_id`])), {
      to: (group) => {
        const id = group[`${key}_policy_id`]
        return id === null ? null : openAt(paths.compute.firewall.strategies(), id)
      },
      width: 180,
    })
  return [
    col.name('name', t('column.name'), (row) => called(row), {
      sort: true,
      to: ({ id }) => hrefOf(id),
      note: (group) => (group.default ? t('isDefault') : group.description),
    }),
    col.status(
      'status',
      t('column.status'),
      ({ status, enabled, port_ids }) => ({
        tone: firewallTones[status],
        text: t(`status.${status}`),
        note: !enabled && status !== 'down' ? t('disabled') : status === 'inactive' && port_ids.length === 0 ? t('statusNote.inactive') : null,
      }),
      { sort: true, width: 110 },
    ),
    policy('ingress'),
    policy('egress'),
    col.number('ports', t('column.ports'), ({ port_ids }) => port_ids.length, { sort: true, width: 80 }),
    col.text('switch', t('column.switch'), ({ enabled }) => t(enabled ? 'on' : 'off'), { width: 90 }),
    col.text('shared', t('column.shared'), ({ shared }) => t(shared ? 'yes' : 'no'), { width: 70 }),
    col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 150 }),
    col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
  ]
}
