import { firewallPolicies, type FirewallPolicy } from '@zhisuan/contract/compute/firewall'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { FirewallPage } from './FirewallPage.tsx'
import { called } from './firewallText.ts'
import { useOpened } from './drawerAddress.ts'
import { PolicyCreate } from './PolicyDialogs.tsx'
import { PolicyDrawer } from './PolicyDrawer.tsx'
import { usePolicyActions } from './usePolicyActions.tsx'

/** Firewall policies of the chosen cloud, with their rules and the firewalls that use them. */
export default function PolicyList() {
  return <FirewallPage>{(cloudId) => <Policies cloudId={cloudId} />}</FirewallPage>
}

function Policies({ cloudId }: { readonly cloudId: string | null }) {
  const { t } = useTranslation('computeFirewall')
  const platform = useIsPlatform()
  const { opened, hrefOf, close } = useOpened()
  const { actionsOf } = usePolicyActions(cloudId ?? '', close)
  return (
    <>
      <CloudTable
        call={firewallPolicies.list}
        cloudId={cloudId}
        columns={(name) => policyColumns(t, platform, name, hrefOf)}
        filters={[filter.oneOf('audited', t('column.audited'), ['yes', 'no'], (value) => t(value)), filter.keyword(t('keyword.policy'))]}
        textOf={({ name, id, description }) => `${name} ${id} ${description}`}
        matches={{ audited: ({ audited }, value) => audited === (value === 'yes') }}
        sortBy={{ name: ({ name }) => name, count: ({ rule_ids }) => rule_ids.length }}
        sortFirst="name"
        rowActions={actionsOf}
        create={{
          call: firewallPolicies.create,
          label: t('policy.create'),
          dialog: (close) => cloudId !== null && <PolicyCreate cloudId={cloudId} onClose={close} />,
        }}
        empty={{ title: t('policy.empty'), note: t('policy.emptyNote') }}
      />

      {opened !== null && cloudId !== null && <PolicyDrawer cloudId={cloudId} id={opened} actionsOf={actionsOf} onClose={close} />}
    </>
  )
}

const policyColumns = (
  t: TFunction<'computeFirewall'>,
  platform: boolean,
  name: (id: string | null) => string,
  hrefOf: (id: string) => string,
): readonly Column<FirewallPolicy>[] => [
  col.name('name', t('column.name'), (row) => called(row), {
    sort: true,
    to: ({ id }) => hrefOf(id),
    note: (policy) => (policy.default ? t('isDefault') : policy.description),
  }),
  col.number('count', t('column.rules'), ({ rule_ids }) => rule_ids.length, { sort: true, width: 80 }),
  col.text('first', t('column.firstRules'), ({ rule_ids }) => rule_ids.slice(0, 3).map(name).join('、') + (rule_ids.length > 3 ? '…' : ''), { width: 260 }),
  col.tags('groups', t('column.groups'), ({ group_ids }) => group_ids.map(name), { width: 180 }),
  col.status('audited', t('column.audited'), ({ audited }) => ({ tone: audited ? 'good' : 'rest', text: t(audited ? 'yes' : 'no') }), { width: 90 }),
  col.text('shared', t('column.shared'), ({ shared }) => t(shared ? 'yes' : 'no'), { width: 70 }),
  col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 150 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
