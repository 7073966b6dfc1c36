import { firewallPolicies, type FirewallPolicy } from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import type { Action } from '../../../kit/actions.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { FirewallDrawer } from './FirewallDrawer.tsx'
import { openAt } from './drawerAddress.ts'
import { PolicyRules } from './PolicyRules.tsx'

/** One policy: the firewalls that use it, and its rules in their order. */
export function PolicyDrawer({
  cloudId,
  id,
  actionsOf,
  onClose,
}: {
  readonly cloudId: string
  readonly id: string
  readonly actionsOf: (policy: FirewallPolicy) => readonly Action[]
  readonly onClose: () => void
}) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  return (
    <FirewallDrawer
      call={firewallPolicies.list}
      cloudId={cloudId}
      id={id}
      actionsOf={actionsOf}
      onClose={onClose}
      factsOf={(policy, name) => [
        { key: 'audited', label: t('column.audited'), value: t(policy.audited ? 'yes' : 'no') },
        { key: 'shared', label: t('column.shared'), value: t(policy.shared ? 'yes' : 'no') },
        {
          key: 'groups',
          label: t('column.groups'),
          value:
            policy.group_ids.length === 0 ? (
              format.nothing
            ) : (
              <span className="zs-tags">
                {policy.group_ids.map((group) => (
                  <Link key={group} to={openAt(paths.compute.firewall.list(), group)}>
                    {name(group)}
                  </Link>
                ))}
              </span>
            ),
        },
        ...(platform && policy.keystone_project_id !== null ? [{ key: 'owner', label: t('column.owner'), value: name(policy.keystone_project_id) }] : []),
        { key: 'id', label: t('column.id'), value: <span className="zs-code">{policy.id}</span> },
        { key: 'description', label: t('column.description'), value: policy.description === '' ? format.nothing : policy.description },
      ]}
    >
      {(policy) => <PolicyRules cloudId={cloudId} policy={policy} />}
    </FirewallDrawer>
  )
}
