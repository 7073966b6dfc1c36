import Tabs from 'antd/es/tabs'
import { ticketDesk } from '@zhisuan/contract/ticket/desk'
import type { Ticket, TicketStatus } from '@zhisuan/contract/ticket/ticket'
import { Link, useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../paths.ts'
import { DeskNav } from './DeskNav.tsx'
import { Figures } from './Figures.tsx'
import { CannedList, GroupList } from './Kept.tsx'
import { HoursForm } from './HoursForm.tsx'
import { dueOf, priorityTones } from './ticketTexts.ts'
import './ticket.css'

const tabs = ['board', 'figures', 'groups', 'canned', 'hours'] as const
const columns = ['open', 'working', 'asking', 'reviewing', 'confirming'] as const satisfies readonly TicketStatus[]

/** The desk of those who keep it: a board, figures, groups, kept answers and hours. */
export default function Center() {
  const { t } = useTranslation('ticket')
  const [search, setSearch] = useSearchParams()
  const drawn = { board: <Board />, figures: <Figures />, groups: <GroupList />, canned: <CannedList />, hours: <HoursForm /> }
  return (
    <>
      <DeskNav />
      <Tabs
        size="small"
        destroyOnHidden
        activeKey={search.get('tab') ?? 'board'}
        onChange={(tab) => setSearch(tab === 'board' ? {} : { tab }, { replace: true })}
        items={tabs.map((key) => ({ key, label: t(`center.tabs.${key}`), children: drawn[key] }))}
      />
    </>
  )
}

function Board() {
  return (
    <div className="tk-board">
      {columns.map((status) => (
        <BoardColumn key={status} status={status} />
      ))}
    </div>
  )
}

function BoardColumn({ status }: { readonly status: (typeof columns)[number] }) {
  const { t } = useTranslation('ticket')
  const { data, error, refetch } = useCall(ticketDesk.list, { query: { status, page_size: 20 } }, { silent: true })
  const more = (data?.total ?? 0) - (data?.items.length ?? 0)
  return (
    <section className="tk-column" aria-labelledby={`tk-${status}`}>
      <h2 id={`tk-${status}`}>
        {t(`status.${status}`)} <span className="zs-number zs-soft">{data?.total ?? ''}</span>
      </h2>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      <ul className="zs-list">
        {(data?.items ?? []).map((ticket) => (
          <BoardCard key={ticket.id} ticket={ticket} />
        ))}
      </ul>
      {data?.total === 0 && <p className="zs-soft">{t('center.boardEmpty')}</p>}
      {more > 0 && <Link to={withQuery(paths.workOrder.list(), { status })}>{t('center.boardMore', { count: more })}</Link>}
    </section>
  )
}

function BoardCard({ ticket }: { readonly ticket: Ticket }) {
  const { t } = useTranslation('ticket')
  const due = dueOf(ticket)
  return (
    <li>
      <Link className="tk-card" to={paths.workOrder.detail(ticket.id)}>
        <b>{ticket.title}</b>
        <span className="zs-soft">
          {t(`type.${ticket.type}`)} · {ticket.bp_name ?? ticket.created_by}
        </span>
        <span className="tk-card-foot">
          <StatusTag tone={priorityTones[ticket.priority]}>{t(`priority.${ticket.priority}`)}</StatusTag>
          <span>{ticket.assignee ?? ticket.group?.name ?? ''}</span>
        </span>
        {ticket.late ? (
          <StatusTag tone="bad">{t('late')}</StatusTag>
        ) : (
          due !== null && <span className="zs-soft zs-number">{t(due.what, { at: format.dateTime(due.at) })}</span>
        )}
      </Link>
    </li>
  )
}
