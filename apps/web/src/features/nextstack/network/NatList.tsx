import Button from 'antd/es/button'
import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { useDialog } from '../../../kit/dialogs.tsx'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
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
  const openDialog = useDialog()
  const { actionsOf } = useNatActions()
  const create = (
    <Button type="primary" onClick={() => openDialog((close) => cloud !== null && <NatCreate cloud={cloud} onClose={close} />)}>
      {t('nat.create')}
    </Button>
  )
  return (
    <NextStackPage>
      <ResourceTable
        call={natGateways.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        rows={({ items }) => items}
        rowKey="id"
        columns={natColumns(t, platform)}
        filters={[filter.keyword(t('filter.groupKeyword'))]}
        rowActions={actionsOf}
        refreshMs={(response) => whilePassing(response?.items, isPassing)}
        toolbar={create}
        empty={
          <EmptyState title={t('nat.empty', { cloud: cloud?.name ?? '' })} action={create}>
            {t('nat.emptyNote')}
          </EmptyState>
        }
      />
    </NextStackPage>
  )
}

/** @param organisations whether rows of several organisations meet here */
const natColumns = (t: TFunction<'network'>, organisations: boolean): readonly Column<NatGateway>[] => [
  col.name('name', t('column.name'), (nat) => nat.name, { sort: true, to: (nat) => paths.nextstack.nat.detail(nat.id), note: (nat) => nat.description }),
  col.status('status', t('column.status'), (nat) => ({ tone: natTones[nat.status], text: t(`nat.status.${nat.status}`), note: nat.error })),
  col.link(
    'vpc',
    t('nat.vpc'),
    (nat) => nat.vpc.name,
    (nat) => paths.nextstack.vpc.detail(nat.vpc.id),
    { width: 160 },
  ),
  col.text('snat', t('nat.snat'), (nat) => snatText(t, nat), { width: 150 }),
  col.number('rules', t('nat.rules'), (nat) => nat.rules.length, { width: 100 }),
  ...col.organisation<NatGateway>(organisations, t('column.organisation')),
  col.date('created_at', t('column.created'), (nat) => nat.created_at, { sort: true }),
]
