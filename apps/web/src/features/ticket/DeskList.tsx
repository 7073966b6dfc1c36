import { deskQueues, ticketDesk } from '@zhisuan/contract/ticket/desk'
import { ticketPriorities, ticketStatuses, ticketTypes, type Ticket } from '@zhisuan/contract/ticket/ticket'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { DeskNav } from './DeskNav.tsx'
import { dueOf, invalidatedByTicket, priorityTones, ticketTones } from './ticketTexts.ts'

/** All work orders, for those who answer: those that are due first. */
export default function DeskList() {
  const { t } = useTranslation('ticket')
  const claim = useChange(ticketDesk.claim, { invalidates: invalidatedByTicket, silent: true })
  return (
    <>
      <DeskNav />
      <ResourceTable
        call={ticketDesk.list}
        columns={[
          col.name<Ticket>('title', t('column.title'), ({ title }) => title, {
            width: 280,
            to: ({ id }) => paths.workOrder.detail(id),
            note: ({ number, unread }) => (unread ? `${number} · ${t('unread')}` : number),
          }),
          col.status<Ticket>('status', t('column.status'), ({ status }) => ({ tone: ticketTones[status], text: t(`status.${status}`) }), { width: 110 }),
          col.status<Ticket>('priority', t('column.priority'), ({ priority }) => ({ tone: priorityTones[priority], text: t(`priority.${priority}`) }), {
            width: 100,
            sort: true,
          }),
          col.status<Ticket>(
            'due_at',
            t('column.due'),
            (ticket) => {
              const due = dueOf(ticket)
              if (ticket.late) return { tone: 'bad', text: t('late'), ...(due !== null && { note: format.dateTime(due.at) }) }
              return due === null ? { tone: 'rest', text: format.nothing } : { tone: 'good', text: t(due.what, { at: format.dateTime(due.at) }) }
            },
            { width: 210, sort: true },
          ),
          col.text<Ticket>('type', t('column.type'), ({ type }) => t(`type.${type}`), { width: 120 }),
          col.text<Ticket>('by', t('column.by'), ({ created_by }) => created_by, { width: 140, note: ({ bp_name }) => bp_name ?? '' }),
          col.text<Ticket>('assignee', t('column.assignee'), ({ assignee }) => assignee, { width: 120, note: ({ group }) => group?.name ?? '' }),
          col.date<Ticket>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
          col.date<Ticket>('updated_at', t('column.updated'), ({ updated_at }) => updated_at, { sort: true, off: true }),
        ]}
        filters={[
          filter.oneOf('queue', t('desk.queue'), deskQueues, (one) => t(`desk.queues.${one}`)),
          filter.oneOf('over', t('column.over'), ['false', 'true'] as const, (one) => t(`over.${one}`)),
          filter.oneOf('status', t('column.status'), ticketStatuses, (one) => t(`status.${one}`)),
          filter.oneOf('type', t('column.type'), ticketTypes, (one) => t(`type.${one}`)),
          filter.oneOf('priority', t('column.priority'), ticketPriorities, (one) => t(`priority.${one}`)),
          filter.oneOf('late', t('desk.lateOnly'), ['true', 'false'] as const, (one) => t(`desk.lates.${one}`)),
          filter.keyword(t('keyword')),
        ]}
        rowActions={({ id, status }) => [
          ...(status === 'open'
            ? [
                {
                  key: 'claim',
                  call: ticketDesk.claim,
                  label: t('action.claim'),
                  doneText: t('action.claimed'),
                  run: () => claim.mutateAsync({ params: { id } }),
                },
              ]
            : []),
          { key: 'open', call: ticketDesk.get, label: t('desk.send'), href: paths.workOrder.detail(id) },
        ]}
        empty={{ title: t('deskEmpty'), note: t('deskEmptyNote') }}
      />
    </>
  )
}
