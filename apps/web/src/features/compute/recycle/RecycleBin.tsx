import ExclamationCircleFilled from '@ant-design/icons/es/icons/ExclamationCircleFilled'
import Button from 'antd/es/button'
import Tooltip from 'antd/es/tooltip'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import {
  recycledCan,
  recycledInstances,
  recycledStatuses,
  recycledTransitional,
  retentions,
  type RecycledInstance,
  type RecycledStatus,
} from '@zhisuan/contract/compute/recycled'
import { errors } from '@zhisuan/contract/errors'
import type { TFunction } from 'i18next'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useDialog } from '../../../kit/dialogs.tsx'
import { useCall, useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { allowed } from '../../../kit/allowed.ts'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { firstNames } from '../../../kit/firstNames.ts'
import { StatusTag, type StatusTone } from '../../../kit/StatusTag.tsx'
import { useMayCall } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { sizeText } from '../instance/instanceColumns.tsx'
import { invalidatedByInstance } from '../instance/instanceRules.ts'
import { timeLeft, type TimeLeft } from './timeLeft.ts'

const RetentionDialog = lazy(() => import('./RetentionDialog.tsx').then((module) => ({ default: module.RetentionDialog })))

/** What was deleted and can be brought back, and until when. */
export default function RecycleBin() {
  const { t } = useTranslation('computeInstance')
  const cloud = useComputeCloud()
  const now = useNow()
  const { actionsOf, batchActions } = useBinActions(cloud)
  return (
    <ComputePage>
      {() => (
        <CloudTable
          call={recycledInstances.list}
          cloudId={cloud?.cloud_id ?? null}
          columns={(name) => binColumns(t, name, now)}
          filters={[filter.oneOf('status', t('bin.column.state'), recycledStatuses, (value) => t(`bin.status.${value}`)), filter.keyword(t('bin.keyword'))]}
          textOf={(one) => [one.name, one.id, one.recycled_by, ...one.floating_ips].join(' ')}
          matches={{ status: (one, value) => one.status === value }}
          sortBy={{ name: ({ name }) => name, until: ({ until }) => until, recycled: ({ recycled_at }) => recycled_at }}
          sortFirst="until"
          passing={({ status }) => recycledTransitional.includes(status)}
          rowActions={actionsOf}
          batchActions={batchActions}
          toolbar={<Retention cloud={cloud} />}
          empty={{ title: t('bin.empty'), note: t('bin.emptyNote') }}
        />
      )}
    </ComputePage>
  )
}

/** The time, as often as what is left until something is told anew. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 20_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

function useBinActions(cloud: CloudBasic | null): {
  readonly actionsOf: (one: RecycledInstance) => readonly Action[]
  readonly batchActions: readonly BatchAction<RecycledInstance>[]
} {
  const { t } = useTranslation('computeInstance')
  const options = { invalidates: invalidatedByInstance, silent: true }
  const restore = useChange(recycledInstances.restore, options)
  const purge = useChange(recycledInstances.purge, options)
  const of = (one: RecycledInstance) => ({ params: { cloud_id: cloud?.cloud_id ?? '', id: one.id } })
  const off = (action: keyof typeof recycledCan, { status }: RecycledInstance): string | null => {
    if (cloud?.status === 'maintenance') return errors.cloudMaintenance.text
    if (cloud?.status === 'offline') return errors.cloudOffline.text
    if (recycledTransitional.includes(status)) return t('busy', { state: t(`bin.status.${status}`) })
    return allowed<RecycledStatus, typeof recycledCan>(recycledCan, action, status, t(`bin.status.${status}`))
  }
  const many = (label: string, note: string) => (rows: readonly RecycledInstance[]) => ({
    title: t('confirm.many', { action: label, count: rows.length }),
    body: (
      <>
        <p>{note}</p>
        <p>
          {t('confirm.which')}
          {firstNames(
            rows.map(({ name }) => name),
            t('confirm.more', { count: rows.length }),
          )}
        </p>
      </>
    ),
  })
  return {
    actionsOf: (one) => [
      {
        key: 'restore',
        call: recycledInstances.restore,
        label: t('bin.restore'),
        disabledReason: off('restore', one),
        confirm: { title: t('confirm.one', { action: t('bin.restore'), name: one.name }), body: t('bin.restoreNote') },
        doneText: t('bin.restoreDone', { name: one.name }),
        run: () => restore.mutateAsync(of(one)),
      },
      {
        key: 'purge',
        call: recycledInstances.purge,
        label: t('bin.purge'),
        danger: true,
        disabledReason: off('purge', one),
        confirm: { title: t('confirm.one', { action: t('bin.purge'), name: one.name }), body: t('bin.purgeNote'), typeToConfirm: one.name },
        doneText: t('bin.purgeDone', { name: one.name }),
        run: () => purge.mutateAsync(of(one)),
      },
    ],
    batchActions: [
      {
        key: 'restore',
        call: recycledInstances.restore,
        label: t('bin.restore'),
        run: (one) => restore.mutateAsync(of(one)),
        disabledReason: (one) => off('restore', one),
        confirm: many(t('bin.restore'), t('bin.restoreNote')),
      },
      {
        key: 'purge',
        call: recycledInstances.purge,
        label: t('bin.purge'),
        danger: true,
        run: (one) => purge.mutateAsync(of(one)),
        disabledReason: (one) => off('purge', one),
        confirm: many(t('bin.purge'), t('bin.purgeNote')),
      },
    ],
  }
}

/** How long things are kept; administrators change it. */
function Retention({ cloud }: { readonly cloud: CloudBasic | null }) {
  const { t } = useTranslation('computeInstance')
  const maySet = useMayCall(retentions.set)
  const openDialog = useDialog()
  const { data } = useCall(retentions.get, { params: { cloud_id: cloud?.cloud_id ?? '' } }, { enabled: cloud !== null, silent: true })
  if (cloud === null || data === undefined) return null
  return (
    <>
      <span className="zs-soft">{t('bin.retention', { days: data.days })}</span>
      {maySet && (
        <Button onClick={() => openDialog((close) => <RetentionDialog cloudId={cloud.cloud_id} days={data.days} onClose={close} />)}>
          {t('bin.retentionSet')}
        </Button>
      )}
      <Suspense></Suspense>
    </>
  )
}

const tones: Readonly<Record<RecycledStatus, StatusTone>> = { recycling: 'busy', recycled: 'rest', restoring: 'busy', purging: 'busy' }

const binColumns = (t: TFunction<'computeInstance'>, name: (id: string | null) => string, now: number): readonly Column<RecycledInstance>[] => [
  col.name('name', t('bin.column.name'), (one) => one.name, { sort: true, note: (one) => (one.kept_by === 'cloud' ? t('bin.byCloud') : '') }),
  col.custom('status', t('bin.column.state'), (one) => <State t={t} one={one} />, { width: 110 }),
  col.custom('left', t('bin.column.left'), (one) => <Left t={t} left={timeLeft(one.until, now)} />, { width: 130 }),
  col.date('until', t('bin.column.until'), (one) => one.until, { sort: true, width: 120 }),
  col.text('flavor', t('bin.column.flavor'), (one) => one.flavor?.name ?? '', {
    width: 140,
    note: (one) => (one.flavor === null ? '' : sizeText(t, one.flavor)),
  }),
  col.text('addresses', t('bin.column.addresses'), (one) => one.floating_ips.join('、'), { width: 112 }),
  col.text('project', t('bin.column.project'), (one) => name(one.keystone_project_id), { width: 112 }),
  col.text('by', t('bin.column.by'), (one) => one.recycled_by, { width: 96 }),
  col.date('recycled', t('bin.column.recycled'), (one) => one.recycled_at, { sort: true, off: true }),
  col.code('id', t('column.id'), (one) => one.id, { width: 280, off: true }),
]

function State({ t, one }: { readonly t: TFunction<'computeInstance'>; readonly one: RecycledInstance }) {
  return (
    <span className="zs-state">
      <StatusTag tone={tones[one.status]}>{t(`bin.status.${one.status}`)}</StatusTag>
      {one.error !== null && (
        <Tooltip title={one.error}>
          <ExclamationCircleFilled className="zs-bad" tabIndex={0} role="img" aria-label={one.error} />
        </Tooltip>
      )}
    </span>
  )
}

/** Less than a day is said louder. */
function Left({ t, left }: { readonly t: TFunction<'computeInstance'>; readonly left: TimeLeft }) {
  const { unit } = left
  const text =
    unit === 'days'
      ? t('bin.left.days', { days: left.days, hours: left.hours })
      : unit === 'hours'
        ? t('bin.left.hours', { hours: left.hours, minutes: left.minutes })
        : unit === 'minutes'
          ? t('bin.left.minutes', { minutes: left.minutes })
          : t(`bin.left.${unit}`)
  return <span className={unit === 'days' || unit === 'none' ? 'zs-number' : 'zs-number zs-bad'}>{text}</span>
}
