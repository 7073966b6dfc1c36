import Alert from 'antd/es/alert'
import Progress from 'antd/es/progress'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import type { Cloud, CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { EmptyState } from '../../kit/EmptyState.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { CloudLine } from '../../kit/CloudLabels.tsx'
import { paths } from '../../paths.ts'
import { byConcern } from './counts.ts'
import './overview.css'

const shown = 6
const healthTone = { unknown: 'rest', reachable: 'good', degraded: 'warning', unreachable: 'bad', unauthorised: 'bad' } as const

/** Clouds with health and what of them is allocated: for those who run them. */
export function CloudsCard({ clouds }: { readonly clouds: readonly Cloud[] }) {
  const { t } = useTranslation(['overview', 'shell'])
  const sorted = byConcern(clouds)
  return (
    <section className="zs-card" aria-labelledby="overview-clouds">
      <div className="overview-head">
        <h2 className="zs-title" id="overview-clouds">
          {t('clouds.title')}
        </h2>
        <span className="zs-soft">{t('clouds.total', { count: clouds.length })}</span>
        <Link to={paths.platform.clouds()}>{t('clouds.manage')}</Link>
      </div>
      {clouds.every((cloud) => cloud.sandbox) && <Alert type="info" showIcon title={t('clouds.onlySandbox')} className="zs-above" />}
      <ul className="zs-list overview-clouds">
        {sorted.slice(0, shown).map((cloud) => (
          <li key={cloud.cloud_id}>
            <div className="zs-line overview-cloud">
              <CloudLine cloud={{ ...cloud, health: 'reachable' }} labels={false} />
              <StatusTag tone={healthTone[cloud.health]}>{t(`shell:cloud.health.${cloud.health}`)}</StatusTag>
              <span className="zs-soft">
                {t('clouds.instances', { count: cloud.instance_count })}
                {cloud.capacity !== null && ` · ${t('clouds.nodes', { count: cloud.capacity.nodes })}`}
              </span>
            </div>
            {cloud.health_message !== null && cloud.health !== 'reachable' && <p className="overview-message">{cloud.health_message}</p>}
            {cloud.capacity === null ? (
              <p className="zs-soft">{t('clouds.noCapacity')}</p>
            ) : (
              <div className="overview-meters">
                <Meter
                  label={t('clouds.cpu')}
                  amount={cloud.capacity.cpu_cores}
                  said={t('clouds.cores', { used: format.number(cloud.capacity.cpu_cores.used), total: format.number(cloud.capacity.cpu_cores.total) })}
                />
                <Meter label={t('clouds.memory')} amount={cloud.capacity.memory_bytes} said={bytesOf(cloud.capacity.memory_bytes)} />
                <Meter label={t('clouds.disk')} amount={cloud.capacity.disk_bytes} said={bytesOf(cloud.capacity.disk_bytes)} />
              </div>
            )}
          </li>
        ))}
      </ul>
      {sorted.length > shown && <Link to={paths.platform.clouds()}>{t('clouds.more', { count: sorted.length - shown })}</Link>}
    </section>
  )
}

interface Amount {
  readonly total: number
  readonly used: number
}

const bytesOf = ({ used, total }: Amount): string => `${format.bytes(used)} / ${format.bytes(total)}`

function Meter({ label, amount, said }: { readonly label: string; readonly amount: Amount; readonly said: string }) {
  const { t } = useTranslation('overview')
  const share = amount.total > 0 ? Math.min(1, amount.used / amount.total) : 0
  const colour = share >= 1 ? 'var(--bad)' : share >= 0.9 ? 'var(--warning)' : 'var(--brand)'
  return (
    <div>
      <div className="overview-meter">
        <span>{label}</span>
        <span className="zs-number zs-soft">{said}</span>
      </div>
      <Progress
        className="zs-meter"
        percent={share * 100}
        size="small"
        showInfo={false}
        strokeColor={colour}
        aria-label={`${label} ${t('clouds.allocated')} ${said}`}
      />
    </div>
  )
}

/** The clouds that a tenant may use: how full they are is all that is told of them. */
export function TenantCloudsCard({ clouds }: { readonly clouds: readonly CloudBasic[] }) {
  const { t } = useTranslation('overview')
  return (
    <section className="zs-card" aria-labelledby="overview-clouds">
      <div className="overview-head">
        <h2 className="zs-title" id="overview-clouds">
          {t('clouds.title')}
        </h2>
      </div>
      {clouds.length === 0 && <EmptyState title={t('clouds.noneTenant')} />}
      <ul className="zs-list overview-clouds">
        {byConcern(clouds).map((cloud) => (
          <li key={cloud.cloud_id}>
            <CloudLine cloud={cloud} />
          </li>
        ))}
      </ul>
    </section>
  )
}
