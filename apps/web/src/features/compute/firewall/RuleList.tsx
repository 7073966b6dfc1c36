import Button from 'antd/es/button'
import { firewallActions, firewallProtocols, firewallRules, opensAll, type FirewallRule } from '@zhisuan/contract/compute/firewall'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { useDialog } from '../../../kit/dialogs.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
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
  const openDialog = useDialog()
  const { opened, hrefOf, close } = useOpened()
  const { actionsOf } = useRuleActions(cloudId ?? '', close)
  const create = (
    <Button
      type="primary"
      disabled={cloudId === null}
      onClick={() => openDialog((close) => cloudId !== null && <RuleDialog cloudId={cloudId} rule={null} onClose={close} />)}
    >
      {t('rule.create')}
    </Button>
  )
  return (
    <>
      <CloudTable
        call={firewallRules.list}
        cloudId={cloudId}
        rowKey="id"
        columns={(name) => ruleColumns(t, platform, name, hrefOf)}
        filters={[
          filter.select(
            'action',
            t('column.action'),
            firewallActions.map((value) => ({ value, label: t(`action.${value}`) })),
          ),
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
        toolbar={create}
        empty={
          <EmptyState title={t('rule.empty')} action={create}>
            {t('rule.emptyNote')}
          </EmptyState>
        }
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
  ...(platform ? [col.text<FirewallRule>('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { width: 150 })] : []),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
