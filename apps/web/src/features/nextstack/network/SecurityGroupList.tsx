import { securityGroups, type SecurityGroup } from '@zhisuan/contract/nextstack/security-group'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { groupTones, isPassing } from './groupRules.ts'
import { SecurityGroupCreate } from './SecurityGroupCreate.tsx'
import { useGroupActions } from './useGroupActions.tsx'

/** Groups of rules on the chosen cloud. */
export default function SecurityGroupList() {
  const { t } = useTranslation('network')
  const cloud = useNextStackCloud()
  const platform = useIsPlatform()
  const { actionsOf } = useGroupActions()
  return (
    <NextStackPage>
      <ResourceTable
        call={securityGroups.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        columns={groupColumns(t, platform)}
        filters={[filter.keyword(t('filter.groupKeyword'))]}
        rowActions={actionsOf}
        passing={isPassing}
        create={{
          call: securityGroups.create,
          label: t('group.create'),
          dialog: (close) => cloud !== null && <SecurityGroupCreate cloud={cloud} onClose={close} />,
        }}
        empty={{ title: t('group.empty', { cloud: cloud?.name ?? '' }), note: t('group.emptyNote') }}
      />
    </NextStackPage>
  )
}

/** @param organisations whether rows of several organisations meet here */
const groupColumns = (t: TFunction<'network'>, organisations: boolean): readonly Column<SecurityGroup>[] => [
  col.name('name', t('column.name'), (group) => group.name, {
    sort: true,
    to: (group) => paths.nextstack.securityGroup.detail(group.id),
    note: (group) => group.description,
  }),
  col.status('status', t('column.status'), (group) => ({ tone: groupTones[group.status], text: t(`group.status.${group.status}`), note: group.error })),
  col.number('rules', t('column.rules'), (group) => group.rules.length, { width: 80 }),
  col.text('guards', t('column.guards'), (group) => t('group.guards', { vms: group.vm_count, vpcs: group.vpc_count }), { width: 160 }),
  col.organisation<SecurityGroup>(t('column.organisation'), { when: organisations }),
  col.text('created_by', t('column.creator'), (group) => group.created_by, { width: 110, off: true }),
  col.date('created_at', t('column.created'), (group) => group.created_at, { sort: true }),
]
