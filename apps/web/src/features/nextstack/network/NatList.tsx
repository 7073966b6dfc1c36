import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { NatCreate } from './NatDialogs.tsx'
import { natTones, snatText, isPassing } from './natRules.ts'
import { useNatActions } from './useNatActions.tsx'

/** NAT gateways on the chosen cloud. */
export default function NatList() {
  const { t } = useTranslation('network')
  const cloud = useNextStackCloud()
  const platform = useIsPlatform()
  const { actionsOf } = useNatActions()
  return (
    <NextStackPage>
      <ResourceTable
        call={natGateways.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        columns={natColumns(t, platform)}
        filters={[filter.keyword(t('filter.groupKeyword'))]}
        rowActions={actionsOf}
        passing={isPassing}
        create={{ call: natGateways.create, label: t('nat.create'), dialog: (close) => cloud !== null && <NatCreate cloud={cloud} onClose={close} /> }}
        empty={{ title: t('nat.empty', { cloud: cloud?.name ?? '' }), note: t('nat.emptyNote') }}
      />
    </NextStackPage>
  )
}

/** @param organisations whether rows of several organisations meet here */
const natColumns = (t: TFunction<'network'>, organisations: boolean): readonly Column<NatGateway>[] => [
  col.name('name', t('column.name'), (nat) => nat.name, { sort: true, to: (nat) => paths.nextstack.nat.detail(nat.id), note: (nat) => nat.description }),
  col.status('status', t('column.status'), (nat) => ({ tone: natTones[nat.status], text: t(`nat.status.${nat.status}`), note: nat.error })),
  col.text('vpc', t('nat.vpc'), (nat) => nat.vpc.name, { to: (nat) => paths.nextstack.vpc.detail(nat.vpc.id), width: 160 }),
  col.text('snat', t('nat.snat'), (nat) => snatText(t, nat), { width: 150 }),
  col.number('rules', t('nat.rules'), (nat) => nat.rules.length, { width: 100 }),
  col.organisation<NatGateway>(t('column.organisation'), { when: organisations }),
  col.date('created_at', t('column.created'), (nat) => nat.created_at, { sort: true }),
]
