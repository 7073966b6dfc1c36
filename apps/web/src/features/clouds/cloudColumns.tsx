import Progress from 'antd/es/progress'
import Tooltip from 'antd/es/tooltip'
import type { Cloud } from '@zhisuan/contract/cmp/cloud'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../i18n.ts'
import { col, type Column } from '../../kit/columns.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { CloudLabels, LoadLabel } from '../../kit/CloudLabels.tsx'
import { cloudTones, healthTones, shareOf } from './cloudRules.ts'
import './clouds.css'

export const cloudColumns = (t: TFunction<['clouds', 'shell']>, to: (cloud: Cloud) => string): readonly Column<Cloud>[] => [
  col.name('name', t('column.name'), (cloud) => cloud.name, { sort: true, to, note: (cloud) => <CloudNote cloud={cloud} /> }),
  col.custom('engine', t('column.engine'), (cloud) => (
    <div className="zs-nowrap">
      {t(`product.${cloud.product}`)}
      <div className="zs-name-note">
        {cloud.engine === null ? t('neverReached') : [cloud.engine, cloud.engine_version].filter((part) => part !== null).join(' ')}
      </div>
      {cloud.product === 'nextstack' && (
        <div className="zs-name-note">
          <Types cloud={cloud} />
        </div>
      )}
    </div>
  )),
  col.custom('status', t('column.status'), (cloud) => <StatusTag tone={cloudTones[cloud.status]}>{t(`shell:cloud.status.${cloud.status}`)}</StatusTag>, {
    width: 84,
  }),
  col.custom('health', t('column.health'), (cloud) => <Health cloud={cloud} />, { width: 130 }),
  col.custom(
    'usage',
    t('column.usage'),
    (cloud) => (
      <span className="zs-nowrap">
        <span className="zs-number">{cloud.usage === null ? format.nothing : t('usedShare', { share: format.percent(cloud.usage) })}</span>{' '}
        <LoadLabel usage={cloud.usage} />
      </span>
    ),
    { sort: true, width: 148 },
  ),
  col.custom('capacity', t('column.capacity'), (cloud) => <Capacity cloud={cloud} />, { width: 220 }),
  col.number('instances', t('column.instances'), (cloud) => cloud.instance_count, { width: 72 }),
  col.number('nodes', t('column.nodes'), (cloud) => cloud.capacity?.nodes, { width: 72, off: true }),
  col.code('address', t('column.address'), (cloud) => cloud.connection.address, { width: 220, off: true }),
  col.date('checked', t('column.checked'), (cloud) => cloud.checked_at, { off: true }),
  col.date('created_at', t('column.created'), (cloud) => cloud.created_at, { sort: true, off: true }),
]

function CloudNote({ cloud }: { readonly cloud: Cloud }) {
  const { t } = useTranslation('clouds')
  return (
    <>
      {(cloud.sandbox || cloud.labels.length > 0) && (
        <div className="cl-labels">
          {cloud.sandbox && <span className="zs-label zs-label-sandbox">{t('sandbox')}</span>}
          <CloudLabels labels={cloud.labels} />
        </div>
      )}
      {cloud.description !== '' && (
        <div className="zs-cut" title={cloud.description}>
          {cloud.description}
        </div>
      )}
    </>
  )
}

/** Whether it answers, and what it said where it does not. */
function Health({ cloud }: { readonly cloud: Cloud }) {
  const { t } = useTranslation('shell')
  return (
    <>
      <StatusTag tone={healthTones[cloud.health]}>{t(`cloud.health.${cloud.health}`)}</StatusTag>
      {cloud.health_message !== null && cloud.health !== 'reachable' && (
        <div className="zs-name-note cl-reason" title={cloud.health_message}>
          {cloud.health_message}
        </div>
      )}
    </>
  )
}

/** How much of each resource is promised. */
function Capacity({ cloud }: { readonly cloud: Cloud }) {
  const { t } = useTranslation('clouds')
  const { capacity } = cloud
  if (capacity === null) return <span className="zs-soft">{t('neverReached')}</span>
  return (
    <dl className="cl-capacity">
      <Bar
        label={t('resource.cpu')}
        of={capacity.cpu_cores}
        text={t('used', { used: format.number(capacity.cpu_cores.used), total: t('cores', { amount: format.number(capacity.cpu_cores.total) }) })}
      />
      <Bar
        label={t('resource.memory')}
        of={capacity.memory_bytes}
        text={t('used', { used: format.bytes(capacity.memory_bytes.used), total: format.bytes(capacity.memory_bytes.total) })}
      />
      <Bar
        label={t('resource.disk')}
        of={capacity.disk_bytes}
        text={t('used', { used: format.bytes(capacity.disk_bytes.used), total: format.bytes(capacity.disk_bytes.total) })}
      />
    </dl>
  )
}

function Bar({ label, of, text }: { readonly label: string; readonly of: { used: number; total: number }; readonly text: string }) {
  const share = shareOf(of)
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <Progress
          percent={(share ?? 0) * 100}
          showInfo={false}
          size="small"
          strokeColor={(share ?? 0) >= 0.9 ? 'var(--bad)' : 'var(--brand)'}
          aria-label={`${label} ${text}`}
        />
        <span className="zs-number">{text}</span>
      </dd>
    </div>
  )
}

/** What kinds of instances it runs; a kind that it cannot run says why. */
function Types({ cloud }: { readonly cloud: Cloud }) {
  const { t } = useTranslation('clouds')
  return (['vm', 'container'] as const).map((type) => {
    const { available, reason } = cloud.instance_types[type]
    const name = t(`type.${type}`)
    if (available)
      return (
        <span key={type} className="cl-type">
          {name}
        </span>
      )
    return (
      <Tooltip key={type} title={reason === null ? t('typeOffPlain', { type: name }) : t('typeOff', { type: name, reason })}>
        <span className="cl-type cl-type-off" tabIndex={0}>
          {name}
        </span>
      </Tooltip>
    )
  })
}
