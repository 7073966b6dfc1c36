import Skeleton from 'antd/es/skeleton'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { vmTones } from '../nextstack/vm/vmRules.ts'
import { statusesOf } from './counts.ts'
import type { Instances } from './useInstances.ts'

/** How many instances there are, and how they are. */
export function InstancesCard({ instances }: { readonly instances: Instances }) {
  const { t } = useTranslation(['overview', 'nextstack'])
  const statuses = instances.counts === null ? null : statusesOf(instances.counts)
  return (
    <section className="zs-card" aria-labelledby="overview-vms">
      <div className="zs-overview-head">
        <h2 id="overview-vms">{t('vms.title')}</h2>
        <Link to={paths.nextstack.vm.list()}>{t('vms.all')}</Link>
      </div>
      <p className="zs-overview-total">
        <strong className="zs-number">{format.number(instances.total)}</strong> <span>{t('vms.scope')}</span>
      </p>
      {statuses === null ? (
        <Skeleton active title={false} paragraph={{ rows: 3 }} />
      ) : (
        <>
          {/* The list below says the same in words. */}
          <div className="zs-overview-bar" aria-hidden="true">
            {statuses.map(({ status, count }) => (
              <span key={status} className={`zs-overview-part zs-overview-${vmTones[status]}`} style={{ flexGrow: count }} />
            ))}
          </div>
          <ul className="zs-overview-statuses">
            {statuses.map(({ status, count }) => (
              <li key={status}>
                <StatusTag tone={vmTones[status]}>{t(`nextstack:status.${status}`)}</StatusTag>
                <span className="zs-number">{format.number(count)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** What was made last. */
export function RecentCard({ instances, cloudName }: { readonly instances: Instances; readonly cloudName: (cloudId: string) => string }) {
  const { t } = useTranslation(['overview', 'nextstack'])
  return (
    <section className="zs-card" aria-labelledby="overview-recent">
      <div className="zs-overview-head">
        <h2 id="overview-recent">{t('recent.title')}</h2>
      </div>
      <ul className="zs-overview-recent">
        {instances.newest.slice(0, 5).map((vm) => (
          <li key={vm.id}>
            <div className="zs-overview-name">
              <Link to={paths.nextstack.vm.detail(vm.id)} className="zs-cut" title={vm.name}>
                {vm.name}
              </Link>
              <span className="zs-soft">
                {t(`nextstack:type.${vm.type}`)} · {cloudName(vm.cloud_id)}
              </span>
            </div>
            <StatusTag tone={vmTones[vm.status]}>{t(`nextstack:status.${vm.status}`)}</StatusTag>
            <time className="zs-number zs-soft" dateTime={vm.created_at}>
              {format.dateTime(vm.created_at)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  )
}
