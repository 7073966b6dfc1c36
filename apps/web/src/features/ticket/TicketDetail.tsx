import Alert from 'antd/es/alert'
import { ticketDesk } from '@zhisuan/contract/ticket/desk'
import { ticketCan, ticketConfirmDays, tickets, type TicketDetail as Detail } from '@zhisuan/contract/ticket/ticket'
import { kindText } from '@zhisuan/contract/kindTexts'
import { lazy, useEffect } from 'react'
import { Link, useParams } from 'react-router'
import { useChange, useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { pageOf } from '../../kinds.ts'
import type { Action } from '../../kit/actions.tsx'
import { DetailPage, type Fact } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { ReplyBox } from './ReplyBox.tsx'
import { Thread } from './Thread.tsx'
import { dueOf, invalidatedByTicket, ticketTones } from './ticketTexts.ts'
import './ticket.css'

const ReasonDialog = lazy(() => import('../../kit/ReasonDialog.tsx'))
const RateDialog = lazy(() => import('./RateDialog.tsx'))

/** One's own work order: how it stands, what was said, and what one can do. */
export default function TicketDetail() {
  const { t } = useTranslation('ticket')
  const { id = '' } = useParams()
  const query = useOne(tickets.get, { params: { id } })
  useRead(id, query.data?.entries.length)
  const how = { invalidates: invalidatedByTicket, silent: true } as const
  const reply = useChange(tickets.reply, how)
  const confirm = useChange(tickets.confirm, how)
  const reopen = useChange(tickets.reopen, how)
  const withdraw = useChange(tickets.withdraw, how)
  const urge = useChange(tickets.urge, how)
  const params = { id }
  const may = (ticket: Detail, which: keyof typeof ticketCan): boolean => (ticketCan[which] as readonly string[]).includes(ticket.status)
  const actionsOf = (ticket: Detail): readonly Action[] => [
    ...(may(ticket, 'confirm')
      ? [
          { key: 'confirm', call: tickets.confirm, label: t('action.confirm'), doneText: t('action.confirmed'), run: () => confirm.mutateAsync({ params }) },
          {
            key: 'reopen',
            call: tickets.reopen,
            label: t('action.reopen'),
            dialog: (close: () => void) => (
              <ReasonDialog
                title={t('action.reopenTitle')}
                label={t('action.reopenReason')}
                missing={t('reply.missing')}
                okText={t('action.reopen')}
                doneText={t('action.reopened')}
                onReason={(reason) => reopen.mutateAsync({ params, body: { reason } })}
                onClose={close}
              />
            ),
          },
        ]
      : []),
    ...(may(ticket, 'urge')
      ? [{ key: 'urge', call: tickets.urge, label: t('action.urge'), doneText: t('action.urged'), run: () => urge.mutateAsync({ params }) }]
      : []),
    ...(may(ticket, 'rate') && ticket.score === null
      ? [{ key: 'rate', call: tickets.rate, label: t('action.rate'), dialog: (close: () => void) => <RateDialog id={id} onClose={close} /> }]
      : []),
    ...(may(ticket, 'withdraw')
      ? [
          {
            key: 'withdraw',
            call: tickets.withdraw,
            label: t('action.withdraw'),
            danger: true,
            confirm: { title: t('action.withdrawTitle', { title: ticket.title }), body: t('action.withdrawBody') },
            doneText: t('action.withdrawn'),
            run: () => withdraw.mutateAsync({ params }),
          },
        ]
      : []),
  ]
  return (
    <DetailPage
      query={query}
      gone={{ title: t('gone'), note: t('goneNote'), back: t('back'), to: paths.ticket.list() }}
      title={({ title }) => title}
      status={({ status }) => <StatusTag tone={ticketTones[status]}>{t(`status.${status}`)}</StatusTag>}
      actions={actionsOf}
      facts={useTicketFacts()}
      notice={({ status }) =>
        status === 'confirming' ? (
          <Alert className="zs-above" type="info" showIcon title={t('confirmNote', { days: ticketConfirmDays })} />
        ) : status === 'asking' ? (
          <Alert className="zs-above" type="warning" showIcon title={t('askNote')} />
        ) : status === 'reviewing' ? (
          <Alert className="zs-above" type="info" showIcon title={t('reviewNote')} />
        ) : null
      }
    >
      {(ticket) => (
        <section className="zs-card">
          <Thread id={id} type={ticket.type} entries={ticket.entries} />
          {may(ticket, 'reply') && (
            <ReplyBox
              draft={id}
              label={t('reply.label')}
              placeholder={t('reply.placeholder')}
              ways={[{ key: 'reply', label: t('reply.send'), primary: true, send: (body) => reply.mutateAsync({ params, body }) }]}
            />
          )}
        </section>
      )}
    </DetailPage>
  )
}

/** What is looked at has been read. */
export function useRead(id: string, entries: number | undefined): void {
  const { mutate } = useChange(tickets.read, { invalidates: [tickets.list, ticketDesk.list], silent: true })
  useEffect(() => {
    if (entries !== undefined) mutate({ params: { id } })
  }, [id, entries, mutate])
}

/** The same for who asks and for who answers. */
export function useTicketFacts(): (ticket: Detail) => readonly Fact[] {
  const { t } = useTranslation('ticket')
  return (ticket) => {
    const due = dueOf(ticket)
    const page = ticket.about === null ? null : pageOf(ticket.about.kind, ticket.about)
    return [
      { key: 'number', label: t('column.number'), value: ticket.number },
      { key: 'type', label: t('column.type'), value: t(`type.${ticket.type}`) },
      { key: 'priority', label: t('column.priority'), value: t(`priority.${ticket.priority}`) },
      {
        key: 'about',
        label: t('column.about'),
        value:
          ticket.about === null ? (
            format.nothing
          ) : (
            <span>
              {kindText(ticket.about.kind)} {page === null ? ticket.about.name : <Link to={page}>{ticket.about.name}</Link>}
            </span>
          ),
      },
      { key: 'by', label: t('column.by'), value: ticket.bp_name === null ? ticket.created_by : `${ticket.created_by}（${ticket.bp_name}）` },
      { key: 'assignee', label: t('column.assignee'), value: ticket.assignee ?? ticket.group?.name ?? format.nothing },
      {
        key: 'due',
        label: t('column.due'),
        value: ticket.late ? <StatusTag tone="bad">{t('late')}</StatusTag> : due === null ? format.nothing : t(due.what, { at: format.dateTime(due.at) }),
      },
      { key: 'created', label: t('column.created'), value: format.dateTime(ticket.created_at) },
      ...(ticket.score === null ? [] : [{ key: 'score', label: t('action.rateScore'), value: `${t('score', { score: ticket.score })} ${ticket.rating}` }]),
    ]
  }
}
