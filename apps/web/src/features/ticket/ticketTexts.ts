import type { ServiceHours } from '@zhisuan/contract/ticket/desk'
import { cannedAnswers, ticketDesk, ticketGroups } from '@zhisuan/contract/ticket/desk'
import { tickets, type Ticket, type TicketPriority, type TicketStatus } from '@zhisuan/contract/ticket/ticket'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import * as format from '../../kit/format.ts'

export const ticketTones: Readonly<Record<TicketStatus, StatusTone>> = {
  open: 'warning',
  working: 'busy',
  asking: 'warning',
  reviewing: 'busy',
  confirming: 'warning',
  done: 'good',
  withdrawn: 'rest',
}
export const priorityTones: Readonly<Record<TicketPriority, StatusTone>> = { low: 'rest', normal: 'rest', high: 'warning', urgent: 'bad' }

export const invalidatedByTicket = [tickets.list, tickets.get, ticketDesk.list, ticketDesk.get, ticketDesk.figures, ticketDesk.staff]
export const invalidatedByDesk = [ticketGroups.list, cannedAnswers.list, ticketDesk.list]

/** What comes first of what it is due for; null where time stands still. */
export function dueOf({
  answer_due_at: answer,
  solve_due_at: solve,
}: Pick<Ticket, 'answer_due_at' | 'solve_due_at'>): { what: 'dueAnswer' | 'dueSolve'; at: string } | null {
  if (answer !== null) return { what: 'dueAnswer', at: answer }
  return solve === null ? null : { what: 'dueSolve', at: solve }
}

/** Working minutes as people say them: a day of work is none of 24 hours, so there are no days. */
export const minutesText = (t: (key: 'time.minutes' | 'time.hours', values: { number: string }) => string, minutes: number): string =>
  minutes < 60 ? t('time.minutes', { number: format.number(minutes, 0) }) : t('time.hours', { number: format.number(minutes / 60, 1) })

/** Days as they are typed, one a line. */
export const daysOf = (text: string): string[] => text.split(/[\s,，;；]+/).filter((one) => one !== '')
export const hoursValues = ({ holidays, workdays, ...rest }: ServiceHours) => ({ ...rest, holidays: holidays.join('\n'), workdays: workdays.join('\n') })
