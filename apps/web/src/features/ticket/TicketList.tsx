import { ticketHours } from '@zhisuan/contract/ticket/desk'
import { tickets, ticketStatuses, ticketTypes, type Ticket } from '@zhisuan/contract/ticket/ticket'
import type { Kind } from '@zhisuan/contract/kind'
import { kindText } from '@zhisuan/contract/kindTexts'
import { lazy, useEffect, useRef } from 'react'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { useDialog } from '../../kit/dialogs.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import type { TicketWish } from '../../kit/ticketPath.ts'
import { paths } from '../../paths.ts'
import { ticketTones } from './ticketTexts.ts'

const TicketDialog = lazy(() => import('./TicketDialog.tsx'))

/** One's own work orders; of an administrator of an organisation those of its people. */
export default function TicketList() {
  const { t } = useTranslation('ticket')
  const { data: hours } = useCall(ticketHours.get, {}, { silent: true })
  useOpenedFromElsewhere()
  return (
    <>
      {hours !== undefined && <p className="zs-soft zs-above">{t('lead', { from: hours.from, to: hours.to })}</p>}
      <ResourceTable
        call={tickets.list}
        columns={[
          col.name<Ticket>('title', t('column.title'), ({ title }) => title, {
            width: 300,
            to: ({ id }) => paths.ticket.detail(id),
            note: ({ number, unread }) => (unread ? `${number} · ${t('unread')}` : number),
          }),
          col.status<Ticket>('status', t('column.status'), ({ status }) => ({ tone: ticketTones[status], text: t(`status.${status}`) }), { width: 110 }),
          col.text<Ticket>('type', t('column.type'), ({ type }) => t(`type.${type}`), { width: 120 }),
          col.text<Ticket>('about', t('column.about'), ({ about }) => about?.name, {
            width: 160,
            note: ({ about }) => (about === null ? '' : kindText(about.kind)),
          }),
          col.text<Ticket>('by', t('column.by'), ({ created_by }) => created_by, { width: 120 }),
          col.text<Ticket>('assignee', t('column.assignee'), ({ assignee, group }) => assignee ?? group?.name, { width: 120 }),
          col.date<Ticket>('updated_at', t('column.updated'), ({ updated_at }) => updated_at, { sort: true }),
          col.date<Ticket>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
        ]}
        filters={[
          filter.oneOf('over', t('column.over'), ['false', 'true'] as const, (one) => t(`over.${one}`)),
          filter.oneOf('status', t('column.status'), ticketStatuses, (one) => t(`status.${one}`)),
          filter.oneOf('type', t('column.type'), ticketTypes, (one) => t(`type.${one}`)),
          filter.keyword(t('keyword')),
        ]}
        create={{ call: tickets.create, label: t('create'), dialog: (close) => <TicketDialog wish={null} onClose={close} /> }}
        empty={{ title: t('empty'), note: t('emptyNote') }}
      />
    </>
  )
}

/** Whoever comes from the page of a thing wants to write about that thing. */
function useOpenedFromElsewhere(): void {
  const open = useDialog()
  const [search, setSearch] = useSearchParams()
  const asked = useRef<string | null>(null)
  const wanted = search.toString()
  useEffect(() => {
    const of = (key: string) => search.get(key) ?? undefined
    const [kind, id] = [of('about_kind'), of('about_id')]
    if (kind === undefined || id === undefined || asked.current === wanted) return
    asked.current = wanted
    const [type, title, text] = [ticketTypes.find((one) => one === of('type')), of('title'), of('text')]
    const wish: TicketWish = {
      // What is no kind of ours the server says.
      about: { kind: kind as Kind, id, name: of('about_name') ?? id },
      ...(type !== undefined && { type }),
      ...(title !== undefined && { title }),
      ...(text !== undefined && { text }),
    }
    open((close) => <TicketDialog wish={wish} onClose={close} />)
    setSearch({}, { replace: true })
  }, [search, wanted, open, setSearch])
}
