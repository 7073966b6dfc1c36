import { vpcs, vpcStatuses, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { useVpcActions } from './useVpcActions.tsx'
import { VpcCreate } from './VpcCreate.tsx'
import { vpcTones, isPassing } from './vpcRules.ts'

/** Private networks on the chosen cloud. */
export default function VpcList() {
  const { t } = useTranslation('network')
  const cloud = useNextStackCloud()
  const platform = useIsPlatform()
  const { actionsOf } = useVpcActions()
  return (
    <NextStackPage>
      <ResourceTable
        call={vpcs.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        columns={vpcColumns(t, platform)}
        filters={[filter.oneOf('status', t('filter.status'), vpcStatuses, (value) => t(`vpc.status.${value}`)), filter.keyword(t('filter.keyword'))]}
        rowActions={actionsOf}
        passing={isPassing}
        create={{ call: vpcs.create, label: t('vpc.create'), dialog: (close) => cloud !== null && <VpcCreate cloud={cloud} onClose={close} /> }}
        empty={{ title: t('vpc.empty', { cloud: cloud?.name ?? '' }), note: t('vpc.emptyNote') }}
      />
    </NextStackPage>
  )
}

/** @param organisations whether rows of several organisations meet here */
const vpcColumns = (t: TFunction<'network'>, organisations: boolean): readonly Column<Vpc>[] => [
  col.name('name', t('column.name'), (vpc) => vpc.name, { sort: true, to: (vpc) => paths.nextstack.vpc.detail(vpc.id), note: (vpc) => vpc.description }),
  col.status('status', t('column.status'), (vpc) => ({ tone: vpcTones[vpc.status], text: t(`vpc.status.${vpc.status}`), note: vpc.error }), { sort: true }),
  col.code('cidr', t('column.cidr'), (vpc) => vpc.cidr, { width: 124 }),
  col.custom(
    'addresses',
    t('column.addresses'),
    (vpc) => <span className="zs-number">{t('size.addresses', { used: vpc.address_used, count: vpc.address_count })}</span>,
    { width: 120 },
  ),
  col.number('vms', t('column.vms'), (vpc) => vpc.vm_count, { width: 64 }),
  col.text('nat', t('column.nat'), (vpc) => vpc.nat?.name, { to: (vpc) => (vpc.nat === null ? null : paths.nextstack.nat.detail(vpc.nat.id)), width: 120 }),
  col.tags('groups', t('column.groups'), (vpc) => vpc.security_groups.map(({ name }) => name)),
  col.organisation<Vpc>(t('column.organisation'), { when: organisations }),
  col.text('created_by', t('column.creator'), (vpc) => vpc.created_by, { width: 110, off: true }),
  col.date('created_at', t('column.created'), (vpc) => vpc.created_at, { sort: true }),
]
