import Button from 'antd/es/button'
import Descriptions from 'antd/es/descriptions'
import Skeleton from 'antd/es/skeleton'
import { arrearsPolicies, standings, standingStates, type ArrearsPolicy, type Standing } from '@zhisuan/contract/bill/arrears'
import { useTranslation } from '../../../i18n.ts'
import { useDialog } from '../../../kit/dialogs.tsx'
import { useCall, useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { PolicyDialog } from './PolicyDialog.tsx'
import { StandingDrawer } from './StandingDrawer.tsx'
import { StandingTag } from './StandingTag.tsx'

/** What happens to accounts that run dry, for everybody and by exception, and how accounts stand. Needs the messages of `arrears`. */
export function ArrearsPolicies() {
  const { t } = useTranslation('arrears')
  const { data, error, refetch } = useCall(arrearsPolicies.get, {}, { silent: true })
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 8 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <>
      <Platform policy={data} />
      <h2>{t('exception.title')}</h2>
      <p className="zs-soft">{t('exception.note')}</p>
      <Exceptions platform={data} />
      <h2>{t('standing.title')}</h2>
      <Standings />
    </>
  )
}

function Platform({ policy }: { readonly policy: ArrearsPolicy }) {
  const { t } = useTranslation('arrears')
  const openDialog = useDialog()
  const yes = (is: boolean): string => t(is ? 'policy.yes' : 'policy.no')
  const hours = (count: number): string => format.number(count)
  return (
    <section aria-labelledby="arrears-policy">
      <h2 id="arrears-policy">{t('policy.platform')}</h2>
      <p className="zs-soft">
        {t('policy.platformNote')}
        {policy.updated_at !== null && t('policy.by', { name: policy.updated_by, at: `${format.date(policy.updated_at)} ${format.time(policy.updated_at)}` })}
      </p>
      <Descriptions
        size="small"
        className="zs-above"
        column={{ xs: 1, sm: 1, md: 2, xl: 3 }}
        items={[
          { key: 'low_balance', label: t('policy.low_balance'), children: format.money(policy.low_balance) },
          { key: 'least_balance', label: t('policy.least_balance'), children: format.money(policy.least_balance) },
          { key: 'grace_hours', label: t('policy.grace_hours'), children: hours(policy.grace_hours) },
          { key: 'warning_hours', label: t('policy.warning_hours'), children: hours(policy.warning_hours) },
          ...(['suspends', 'stop_vms', 'stop_containers', 'refuse_new', 'resume'] as const).map((key) => ({
            key,
            label: t(`policy.${key}`),
            children: yes(policy[key]),
          })),
        ]}
      />
      <Button onClick={() => openDialog((close) => <PolicyDialog policy={policy} adds={false} onClose={close} />)}>{t('policy.edit')}</Button>
    </section>
  )
}

function Exceptions({ platform }: { readonly platform: ArrearsPolicy }) {
  const { t } = useTranslation('arrears')
  const remove = useChange(arrearsPolicies.removeException, { invalidates: [arrearsPolicies.exceptions, standings.list] })
  const nameOf = ({ organisation }: ArrearsPolicy): string => organisation?.name ?? ''
  return (
    <>
      <ResourceTable
        call={arrearsPolicies.exceptions}
        name="exceptions"
        rowKey={({ id }) => id ?? ''}
        columns={[
          col.name<ArrearsPolicy>('name', t('exception.organisation'), nameOf, { sort: true }),
          col.money<ArrearsPolicy>('low_balance', t('policy.low_balance'), (policy) => policy.low_balance, { width: 150 }),
          col.money<ArrearsPolicy>('least_balance', t('policy.least_balance'), (policy) => policy.least_balance, { width: 170 }),
          col.number<ArrearsPolicy>('grace_hours', t('policy.grace_hours'), (policy) => policy.grace_hours, { width: 130 }),
          col.text<ArrearsPolicy>('suspends', t('policy.suspends'), (policy) => t(policy.suspends ? 'policy.yes' : 'policy.no'), { width: 170 }),
          col.text<ArrearsPolicy>('resume', t('policy.resume'), (policy) => t(policy.resume ? 'policy.yes' : 'policy.no'), { width: 220 }),
        ]}
        filters={[filter.keyword(t('exception.keyword'))]}
        create={{ call: arrearsPolicies.setException, label: t('exception.add'), dialog: (close) => <PolicyDialog policy={platform} adds onClose={close} /> }}
        rowActions={(policy) => [
          {
            key: 'edit',
            call: arrearsPolicies.set,
            label: t('policy.edit'),
            dialog: (close) => <PolicyDialog policy={policy} adds={false} onClose={close} />,
          },
          {
            key: 'remove',
            call: arrearsPolicies.removeException,
            label: t('exception.remove'),
            danger: true,
            confirm: { title: t('exception.removeTitle', { name: nameOf(policy) }), body: t('exception.removeBody') },
            doneText: t('exception.removed', { name: nameOf(policy) }),
            run: () => remove.mutateAsync({ params: { id: policy.organisation?.id ?? '' } }),
          },
        ]}
        empty={{ title: t('exception.none'), note: t('exception.noneNote') }}
      />
    </>
  )
}

function Standings() {
  const { t } = useTranslation('arrears')
  return (
    <>
      <ResourceTable
        call={standings.list}
        name="standings"
        columns={[
          col.name<Standing>('name', t('exception.organisation'), ({ organisation }) => organisation.name, { sort: true }),
          col.custom<Standing>('state', t('standing.state'), (row) => (
            <>
              <StandingTag state={row.state} />
              {row.suspension !== null && (
                <div className="zs-name-note">
                  {row.suspension.failing > 0 ? t('standing.failing', { count: row.suspension.failing }) : t(`phase.${row.suspension.phase}`)}
                </div>
              )}
            </>
          )),
          col.date<Standing>('since', t('standing.since'), ({ since }) => since, { sort: true }),
          col.date<Standing>('grace_until', t('standing.grace'), ({ grace_until }) => grace_until, { sort: true }),
          col.charge<Standing>('arrears', t('standing.arrears'), ({ arrears }) => arrears, { width: 130 }),
          col.money<Standing>('available', t('standing.available'), ({ available }) => available, { width: 140 }),
        ]}
        filters={[filter.keyword(t('exception.keyword')), filter.oneOf('state', t('standing.state'), standingStates, (value) => t(`state.${value}`))]}
        rowActions={({ organisation }) => [
          {
            key: 'details',
            call: null,
            label: t('standing.details'),
            dialog: (close) => <StandingDrawer organisation={organisation} onClose={close} />,
          },
        ]}
        empty={{ title: t('standing.none') }}
      />
    </>
  )
}
