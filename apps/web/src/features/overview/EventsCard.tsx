import Skeleton from 'antd/es/skeleton'
import { overview, type OverviewEvent } from '@zhisuan/contract/nextstack/overview'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { useIsPlatform } from '../../session/user.ts'
import { eventPath, eventText, eventTones } from './eventText.ts'
import './overview.css'

const refreshMs = 5_000

/** Who did what, and what came of it; nothing is drawn before somebody did something. */
export function EventsCard() {
  const { t } = useTranslation('overview')
  const { data, error, refetch } = useCall(overview.events, {}, { refreshMs, silent: true })
  if (data?.items.length === 0) return null
  return (
    <section className="zs-card" aria-labelledby="overview-events">
      <div className="overview-head">
        <h2 className="zs-title" id="overview-events">
          {t('events.title')}
        </h2>
        {data?.items[0]?.status === 'failed' && <span className="zs-soft">{t('events.failedFirst')}</span>}
      </div>
      {data === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 5 }} />
        ) : (
          <ErrorPanel error={error} title={t('failed', { what: t('events.title') })} onRetry={() => void refetch()} />
        )
      ) : (
        <ul className="zs-list overview-events">
          {data.items.map((event) => (
            <Event key={event.id} event={event} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Event({ event }: { readonly event: OverviewEvent }) {
  const { t } = useTranslation('overview')
  const platform = useIsPlatform()
  const to = eventPath(event)
  const actor = event.actor_name === '' ? t('events.platform') : event.actor_name
  return (
    <li>
      <StatusTag tone={eventTones[event.status]}>{t(`events.status.${event.status}`)}</StatusTag>
      <div className="overview-event">
        <span className="overview-event-what">
          <span>{eventText(t, event.kind)}</span>
          {to === null ? <span>{event.resource_name}</span> : <Link to={to}>{event.resource_name}</Link>}
          {!event.exists && event.kind.endsWith('.delete') === false && <span className="zs-soft">{t('events.deleted')}</span>}
        </span>
        <span className="zs-soft">
          {actor}
          {platform && event.bp_name !== null && ` · ${event.bp_name}`}
        </span>
        {event.error !== null && <span className="overview-message">{event.error}</span>}
      </div>
      <time className="zs-number zs-soft" dateTime={event.created_at} title={format.dateTime(event.created_at)}>
        {format.date(event.created_at) === format.date(Date.now()) ? format.time(event.created_at) : format.dateTime(event.created_at)}
      </time>
    </li>
  )
}
