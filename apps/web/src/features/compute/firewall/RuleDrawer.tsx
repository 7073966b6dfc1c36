import Alert from 'antd/es/alert'
import { firewallRules, opensAll, type FirewallRule } from '@zhisuan/contract/compute/firewall'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import type { Action } from '../../../kit/actions.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { FirewallDrawer } from './FirewallDrawer.tsx'
import { actionTones, protocolText, sideText } from './firewallText.ts'
import { openAt } from './drawerAddress.ts'

/** One rule, and the policies that it is in. */
export function RuleDrawer({
  cloudId,
  id,
  actionsOf,
  onClose,
}: {
  readonly cloudId: string
  readonly id: string
  readonly actionsOf: (rule: FirewallRule) => readonly Action[]
  readonly onClose: () => void
}) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  return (
    <FirewallDrawer
      call={firewallRules.list}
      cloudId={cloudId}
      id={id}
      actionsOf={actionsOf}
      onClose={onClose}
      factsOf={(rule, name) => [
        { key: 'action', label: t('column.action'), value: <StatusTag tone={actionTones[rule.action]}>{t(`action.${rule.action}`)}</StatusTag> },
        { key: 'enabled', label: t('column.enabled'), value: t(rule.enabled ? 'on' : 'disabled') },
        { key: 'version', label: t('column.version'), value: `IPv${rule.version}` },
        { key: 'protocol', label: t('column.protocol'), value: protocolText(t, rule.protocol) },
        { key: 'source', label: t('column.source'), value: <span className="zs-code">{sideText(t, rule.source_address, rule.source_port)}</span> },
        {
          key: 'destination',
          label: t('column.destination'),
          value: <span className="zs-code">{sideText(t, rule.destination_address, rule.destination_port)}</span>,
        },
        { key: 'shared', label: t('column.shared'), value: t(rule.shared ? 'yes' : 'no') },
        ...(platform && rule.keystone_project_id !== null ? [{ key: 'owner', label: t('column.owner'), value: name(rule.keystone_project_id) }] : []),
        { key: 'id', label: t('column.id'), value: <span className="zs-code">{rule.id}</span> },
        { key: 'description', label: t('column.description'), value: rule.description === '' ? format.nothing : rule.description },
        {
          key: 'policies',
          label: t('column.policies'),
          value:
            rule.policy_ids.length === 0 ? (
              t('rule.unused')
            ) : (
              <span className="zs-tags">
                {rule.policy_ids.map((policy) => (
                  <Link key={policy} to={openAt(paths.compute.firewall.strategies(), policy)}>
                    {name(policy)}
                  </Link>
                ))}
              </span>
            ),
        },
      ]}
    >
      {(rule) =>
        opensAll(rule) && (
          <Alert className="zs-above" type="warning" showIcon title={t('rule.opensTitle', { version: rule.version })} description={t('rule.opensBody')} />
        )
      }
    </FirewallDrawer>
  )
}
