import CloseCircleFilled from '@ant-design/icons/es/icons/CloseCircleFilled'
import ExclamationCircleFilled from '@ant-design/icons/es/icons/ExclamationCircleFilled'
import { kindText } from '@zhisuan/contract/kindTexts'
import type { OverviewAlarm } from '@zhisuan/contract/nextstack/overview'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { listOf } from '../../kinds.ts'
import { paths, withQuery } from '../../paths.ts'
import { useIsPlatform } from '../../session/user.ts'
import type { LicenceState } from '../../kit/licenceState.ts'
import './overview.css'

interface Line {
  readonly key: string
  readonly level: 'bad' | 'warning'
  readonly text: string
  /** Where something can be done about it. */
  readonly to: string | null
}

/** What needs somebody; nothing is drawn where nothing does. */
export function AlarmsCard({ alarms, licence }: { readonly alarms: readonly OverviewAlarm[]; readonly licence: LicenceState | null }) {
  const { t } = useTranslation('overview')
  const platform = useIsPlatform()
  const lines = [...licenceLines(t, licence), ...alarms.map((alarm) => lineOf(t, alarm, platform))]
  if (lines.length === 0) return null
  return (
    <section className="zs-card overview-alarms" aria-labelledby="overview-alarms">
      <h2 id="overview-alarms">
        {t('alarms.title')} <span className="overview-count zs-number">{lines.length}</span>
      </h2>
      <ul className="zs-list">
        {lines.map(({ key, level, text, to }) => (
          <li key={key}>
            {level === 'bad' ? (
              <CloseCircleFilled className="overview-icon-bad" aria-hidden />
            ) : (
              <ExclamationCircleFilled className="overview-icon-warning" aria-hidden />
            )}
            {to === null ? text : <Link to={to}>{text}</Link>}
          </li>
        ))}
      </ul>
    </section>
  )
}

function licenceLines(t: TFunction<'overview'>, state: LicenceState | null): readonly Line[] {
  if (state?.kind === 'expired') return [{ key: 'licence', level: 'bad', text: t('alarms.licence.expired'), to: paths.licence() }]
  if (state?.kind === 'ending') return [{ key: 'licence', level: 'warning', text: t('alarms.licence.soon', { count: state.days }), to: paths.licence() }]
  return []
}

/** @param platform only who runs the platform can do something about its clouds */
function lineOf(t: TFunction<'overview'>, alarm: OverviewAlarm, platform: boolean): Line {
  switch (alarm.type) {
    case 'cloud':
      return {
        key: `cloud ${alarm.id}`,
        level: alarm.health === 'degraded' ? 'warning' : 'bad',
        text: t(`alarms.cloud.${alarm.health}`, { name: alarm.name }),
        to: platform ? paths.platform.clouds() : null,
      }
    case 'host':
      return {
        key: `host ${alarm.id}`,
        level: 'bad',
        text: t(`alarms.host.${alarm.status}`, { name: alarm.name, cloud: alarm.cloud_name }),
        to: paths.nextstack.hypervisorNode.detail(alarm.id),
      }
    case 'resource':
      return {
        key: `${alarm.kind} ${alarm.status}`,
        level: 'bad',
        text: t(`alarms.resource.${alarm.status}`, { count: alarm.count, kind: kindText(alarm.kind) }),
        to: withQuery(listOf(alarm.kind), { status: alarm.status }),
      }
  }
}
