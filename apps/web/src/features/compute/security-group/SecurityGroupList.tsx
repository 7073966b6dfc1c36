import { computeSecurityGroups, kindOfGroup, type ComputeSecurityGroup } from '@zhisuan/contract/compute/security-group'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { SecurityGroupCreate } from './SecurityGroupDialogs.tsx'
import { useSecurityGroupActions } from './useSecurityGroupActions.tsx'

/** Security groups of the chosen cloud. */
export default function SecurityGroupList() {
  const { t } = useTranslation('computeSecurity')
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const { actionsOf, batchActions } = useSecurityGroupActions(cloudId)
  return (
    <ComputePage>
      {() => (
        <CloudTable
          call={computeSecurityGroups.list}
          cloudId={cloudId}
          columns={(name) => groupColumns(t, platform, name)}
          filters={[filter.keyword(t('group.keyword'))]}
          textOf={({ name, id, description }) => `${name} ${id} ${description}`}
          sortBy={{ name: ({ name }) => name, rules: ({ rule_count }) => rule_count, ports: ({ port_count }) => port_count }}
          sortFirst="name"
          rowActions={actionsOf}
          batchActions={batchActions}
          nameOf={({ name, id }) => (name === '' ? id : name)}
          create={{
            call: computeSecurityGroups.create,
            label: t('group.create'),
            dialog: (close) => cloudId !== null && <SecurityGroupCreate cloudId={cloudId} onClose={close} />,
          }}
          empty={{ title: t('group.empty'), note: t('group.emptyNote') }}
        />
      )}
    </ComputePage>
  )
}

const groupColumns = (t: TFunction<'computeSecurity'>, platform: boolean, name: (id: string | null) => string): readonly Column<ComputeSecurityGroup>[] => [
  col.name('name', t('column.name'), (group) => (group.name === '' ? group.id : group.name), {
    sort: true,
    to: ({ id }) => paths.compute.securityGroup.detail(id),
    // What the cloud says of its own one is English, and says no more.
    note: (group) => (kindOfGroup(group) === 'default' && /^(default security group)?$/i.test(group.description) ? t('group.ofDefault') : group.description),
    width: 240,
  }),
  col.number('rules', t('column.rules'), ({ rule_count }) => rule_count, { sort: true, width: 90 }),
  col.number('ports', t('column.ports'), ({ port_count }) => port_count, { sort: true, width: 120 }),
  col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 180 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
