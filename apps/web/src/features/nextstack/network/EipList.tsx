import { eips, eipStatuses, type Eip } from '@zhisuan/contract/nextstack/eip'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { eipTones, isPassing } from './eipRules.ts'
import { useEipActions } from './useEipActions.tsx'

/** Outside addresses on the chosen cloud. */
export default function EipList() {
  const { t } = useTranslation('network')
  const cloud = useNextStackCloud()
  const platform = useIsPlatform()
  const { actionsOf } = useEipActions()
  return (
    <NextStackPage>
      <ResourceTable
        call={eips.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        columns={eipColumns(t, platform)}
        filters={[filter.oneOf('status', t('filter.status'), eipStatuses, (value) => t(`eip.status.${value}`)), filter.keyword(t('eip.keyword'))]}
        rowActions={actionsOf}
        nameOf={({ address }) => address}
        passing={isPassing}
        create={{ call: eips.allocate, label: t('eip.allocate'), href: paths.nextstack.eip.add() }}
        empty={{ title: t('eip.empty', { cloud: cloud?.name ?? '' }), note: t('eip.emptyNote') }}
      />
    </NextStackPage>
  )
}

/** @param organisations whether rows of several organisations meet here */
const eipColumns = (t: TFunction<'network'>, organisations: boolean): readonly Column<Eip>[] => [
  col.name('address', t('eip.column.address'), (eip) => eip.address, { sort: true, note: (eip) => (eip.name === eip.address ? '' : eip.name) }),
  col.status('status', t('column.status'), (eip) => ({ tone: eipTones[eip.status], text: t(`eip.status.${eip.status}`), note: eip.error }), { sort: true }),
  col.custom('target', t('eip.column.target'), (eip) => <Target eip={eip} />, { width: 164 }),
  col.text('vpc', t('eip.column.vpc'), (eip) => eip.bound_to?.vpc.name, {
    to: (eip) => (eip.bound_to === null ? null : paths.nextstack.vpc.detail(eip.bound_to.vpc.id)),
    width: 120,
  }),
  col.text('bandwidth', t('eip.column.bandwidth'), (eip) => (eip.bandwidth_mbps === null ? t('eip.unlimited') : t('eip.mbps', { count: eip.bandwidth_mbps })), {
    width: 90,
  }),
  col.text('pool', t('eip.column.pool'), (eip) => eip.pool.name, { width: 112 }),
  col.organisation<Eip>(t('column.organisation'), { when: organisations }),
  col.date('created_at', t('column.created'), (eip) => eip.created_at, { sort: true }),
]

function Target({ eip }: { readonly eip: Eip }) {
  const { t } = useTranslation('network')
  if (eip.bound_to === null) return format.nothing
  const { kind, id, name } = eip.bound_to
  return (
    <>
      <Link to={kind === 'vm' ? paths.nextstack.vm.detail(id) : paths.nextstack.nat.detail(id)}>{name}</Link>
      <div className="zs-name-note">{t(`eip.kind.${kind}`)}</div>
    </>
  )
}
