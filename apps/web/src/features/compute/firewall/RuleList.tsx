import { firewallActions, firewallProtocols, firewallRules, opensAll, type FirewallRule } from '@zhisuan/contract/compute/firewall'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { FirewallPage } from './FirewallPage.tsx'
import { actionTones, called, protocolText, sideText } from './firewallText.ts'
import { useOpened } from './drawerAddress.ts'
import { RuleDialog } from './RuleDialog.tsx'
import { RuleDrawer } from './RuleDrawer.tsx'
import { useRuleActions } from './useRuleActions.tsx'

/** Firewall rules of the chosen cloud, and in which policies they are. */
export default function RuleList() {
  return <FirewallPage>{(cloudId) => <Rules cloudId={cloudId} />}</FirewallPage>
}

function Rules({ cloudId }: { readonly cloudId: string | null }) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const { opened, hrefOf, close } = useOpened()
  const { actionsOf } = useRuleActions(cloudId ?? '', close)
  return (
    <>
      <CloudTable
        call={firewallRules.list}
        cloudId={cloudId}
        columns={(name) => ruleColumns(t, platform, name, hrefOf)}
        filters={[
          filter.oneOf('action', t('column.action'), firewallActions, (value) => t(`action.${value}`)),
          filter.select('protocol', t('column.protocol'), [
            ...firewallProtocols.map((value) => ({ value, label: t(`protocol.${value}`) })),
            { value: 'any', label: t('any') },
          ]),
          filter.keyword(t('keyword.rule')),
        ]}
        textOf={(rule) =>
          [rule.name, rule.id, rule.description, rule.source_address, rule.source_port, rule.destination_address, rule.destination_port].join(' ')
        }
        matches={{ action: ({ action }, value) => action === value, protocol: ({ protocol }, value) => (protocol ?? 'any') === value }}
        sortBy={{ name: ({ name }) => name, action: ({ action }) => action, version: ({ version }) => version }}
        sortFirst="name"
        rowActions={actionsOf}
        create={{
          call: firewallRules.create,
          label: t('rule.create'),
          dialog: (close) => cloudId !== null && <RuleDialog cloudId={cloudId} rule={null} onClose={close} />,
        }}
        empty={{ title: t('rule.empty'), note: t('rule.emptyNote') }}
      />

      {opened !== null && cloudId !== null && <RuleDrawer cloudId={cloudId} id={opened} actionsOf={actionsOf} onClose={close} />}
    </>
  )
}

const ruleColumns = (
  t: TFunction<'computeFirewall'>,
  platform: boolean,
  name: (id: string | null) => string,
  hrefOf: (id: string) => string,
): readonly Column<FirewallRule>[] => [
  col.name('name', t('column.name'), (row) => called(row), { sort: true, to: ({ id }) => hrefOf(id), note: ({ description }) => description }),
  col.status(
    'action',
    t('column.action'),
    (rule) => ({
      tone: actionTones[rule.action],
      text: t(`action.${rule.action}`),
      note: opensAll(rule) ? t('policy.opens') : rule.enabled ? null : t('disabled'),
    }),
    { sort: true, width: 100 },
  ),
  col.text('protocol', t('column.protocol'), ({ protocol }) => protocolText(t, protocol), { width: 80 }),
  col.text('version', t('column.version'), ({ version }) => `IPv${version}`, { sort: true, width: 80 }),
  col.code('source', t('column.source'), (rule) => sideText(t, rule.source_address, rule.source_port), { width: 190 }),
  col.code('destination', t('column.destination'), (rule) => sideText(t, rule.destination_address, rule.destination_port), { width: 190 }),
  col.tags('policies', t('column.policies'), ({ policy_ids }) => policy_ids.map(name), { width: 180 }),
  col.text('shared', t('column.shared'), ({ shared }) => t(shared ? 'yes' : 'no'), { width: 70 }),
  col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 150 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
