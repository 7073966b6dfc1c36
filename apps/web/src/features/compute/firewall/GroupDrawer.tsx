import { firewallGroups, type FirewallGroup } from '@zhisuan/contract/compute/firewall'
import { computePorts } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useChange } from '../../../api/hooks.ts'
import { ActionMenu, type Action } from '../../../kit/actions.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { useCloudLines } from '../CloudTable.tsx'
import { Device } from '../network/PortList.tsx'
import { FirewallDrawer } from './FirewallDrawer.tsx'
import { called, firewallTones, invalidatedByFirewall } from './firewallText.ts'
import { openAt } from './drawerAddress.ts'
import { usePortsReason } from './useGroupActions.tsx'
import './firewall.css'

/** One firewall: its state, its policies, and the ports whose traffic it filters. */
export function GroupDrawer({
  cloudId,
  id,
  actionsOf,
  onClose,
}: {
  readonly cloudId: string
  readonly id: string
  readonly actionsOf: (group: FirewallGroup) => readonly Action[]
  readonly onClose: () => void
}) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const policy = (of: string | null, name: (id: string) => string) =>
    of === null ? t('group.unset') : <Link to={openAt(paths.compute.firewall.strategies(), of)}>{name(of)}</Link>
  return (
    <FirewallDrawer
      call={firewallGroups.list}
      cloudId={cloudId}
      id={id}
      actionsOf={actionsOf}
      onClose={onClose}
      factsOf={(group, name) => [
        { key: 'status', label: t('column.status'), value: <StatusTag tone={firewallTones[group.status]}>{t(`status.${group.status}`)}</StatusTag> },
        { key: 'switch', label: t('column.switch'), value: t(group.enabled ? 'on' : 'off') },
        { key: 'ingress', label: t('column.ingress'), value: policy(group.ingress_policy_id, name) },
        { key: 'egress', label: t('column.egress'), value: policy(group.egress_policy_id, name) },
        { key: 'shared', label: t('column.shared'), value: t(group.shared ? 'yes' : 'no') },
        ...(platform && group.keystone_project_id !== null ? [{ key: 'owner', label: t('column.owner'), value: name(group.keystone_project_id) }] : []),
        { key: 'id', label: t('column.id'), value: <span className="zs-code">{group.id}</span> },
        { key: 'description', label: t('column.description'), value: group.description === '' ? format.nothing : group.description },
      ]}
    >
      {(group) => <GroupPorts cloudId={cloudId} group={group} />}
    </FirewallDrawer>
  )
}

function GroupPorts({ cloudId, group }: { readonly cloudId: string; readonly group: FirewallGroup }) {
  const { t } = useTranslation('computeFirewall')
  const { data } = useCloudLines(computePorts.list, cloudId)
  const remove = useChange(firewallGroups.removePorts, { invalidates: invalidatedByFirewall })
  const reason = usePortsReason()(group)
  return (
    <section aria-label={t('field.ports')}>
      <h2 className="cf-heading">{t('field.ports')}</h2>
      {group.port_ids.length === 0 ? (
        <EmptyState title={t(group.shared && !group.changeable ? 'group.portsHidden' : 'group.portsNone')} />
      ) : (
        <ul className="zs-list">
          {group.port_ids.map((id) => {
            const port = data?.items.find((one) => one.id === id)
            const address = port?.addresses.map((one) => one.address).join('、') ?? id
            return (
              <li key={id} className="cf-row">
                <div className="cf-row-what">
                  <Link className="zs-code" to={paths.compute.port.detail(id)}>
                    {address}
                  </Link>
                  {port !== undefined && <div className="cf-row-note">{data?.names[port.network_id] ?? port.network_id}</div>}
                </div>
                {port !== undefined && (
                  <div className="cf-row-what">
                    <Device port={port} name={data?.names[port.device_id ?? ''] ?? port.device_id ?? ''} />
                  </div>
                )}
                <ActionMenu
                  label={t('group.portRemoveOf', { address })}
                  actions={[
                    {
                      key: 'remove',
                      call: firewallGroups.removePorts,
                      label: t('remove'),
                      danger: true,
                      disabledReason: reason,
                      doneText: t('group.portRemoved'),
                      confirm: { title: t('group.portRemoveTitle', { name: called(group), address }), body: t('group.portRemoveBody') },
                      run: () => remove.mutateAsync({ params: { cloud_id: cloudId, id: group.id }, body: { port_ids: [id] } }),
                    },
                  ]}
                />
              </li>
            )
          })}
        </ul>
      )}
    </section>
  )
}
