import { cannedAnswers, ticketDesk, ticketGroups, ticketHours } from '@zhisuan/contract/ticket/desk'
import { tickets as calls } from '@zhisuan/contract/ticket/ticket'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { serveUploads } from '../../platform/bytes/serveUploads.ts'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import { createDesk } from './desk.service.ts'
import { createTickets, ticketUploadPath, type TicketMail } from './ticket.service.ts'
import { ticketMigrations, toldTo } from './ticket.store.ts'

/** Work orders. */
export function createTicketModule(platform: Platform, parts: { bytes: Bytes; tell: Tell; mail: TicketMail }): ModuleParts {
  const tickets = createTickets(platform, parts)
  const desk = createDesk(platform.db)
  return {
    migrations: ticketMigrations,
    kinds: { 'ticket.ticket': { table: 'tickets', name: 'title', toldTo }, 'ticket.desk': {}, 'ticket.group': { table: 'ticket_groups' } },
    handlers: [
      handle(calls.list, ({ actor, query }) => tickets.list(actor, query)),
      handle(calls.get, ({ actor, params }) => tickets.get(actor, params.id)),
      handle(calls.create, ({ actor, body }) => tickets.create(actor, body)),
      handle(calls.reply, ({ actor, params, body }) => tickets.reply(actor, params.id, body)),
      handle(calls.confirm, ({ actor, params }) => tickets.confirm(actor, params.id)),
      handle(calls.reopen, ({ actor, params, body }) => tickets.reopen(actor, params.id, body.reason)),
      handle(calls.withdraw, ({ actor, params }) => tickets.withdraw(actor, params.id)),
      handle(calls.urge, ({ actor, params }) => tickets.urge(actor, params.id)),
      handle(calls.rate, ({ actor, params, body }) => tickets.rate(actor, params.id, body)),
      handle(calls.read, ({ actor, params }) => tickets.read(actor, params.id)),
      handle(calls.upload, ({ actor, body }) => tickets.announce(actor, body)),
      handle(calls.uploaded, async ({ actor, params }) => {
        const { status, offset_bytes } = await tickets.upload(actor, params.id)
        return { status, offset_bytes }
      }),
      handle(calls.download, ({ actor, params }) => tickets.download(actor, params.id, params.file_id)),
      handle(ticketDesk.list, ({ actor, query }) => tickets.deskList(actor, query)),
      handle(ticketDesk.get, ({ actor, params }) => tickets.deskGet(actor, params.id)),
      handle(ticketDesk.claim, ({ actor, params }) => tickets.claim(actor, params.id)),
      handle(ticketDesk.assign, ({ actor, params, body }) => tickets.assign(actor, params.id, body)),
      handle(ticketDesk.answer, ({ actor, params, body }) => tickets.answer(actor, params.id, body)),
      handle(ticketDesk.note, ({ actor, params, body }) => tickets.note(actor, params.id, body)),
      handle(ticketDesk.review, ({ actor, params, body }) => tickets.review(actor, params.id, body)),
      handle(ticketDesk.prioritise, ({ actor, params, body }) => tickets.prioritise(actor, params.id, body.priority)),
      handle(ticketDesk.retype, ({ actor, params, body }) => tickets.retype(actor, params.id, body.type)),
      handle(ticketDesk.reveal, ({ actor, params }) => tickets.reveal(actor, params.id)),
      handle(ticketDesk.figures, ({ query }) => tickets.figures(query.days)),
      handle(ticketDesk.staff, () => tickets.staff()),
      handle(ticketGroups.list, () => desk.groups()),
      handle(ticketGroups.create, ({ body }) => desk.createGroup(body)),
      handle(ticketGroups.update, ({ params, body }) => desk.updateGroup(params.id, body)),
      handle(ticketGroups.delete, ({ params }) => desk.deleteGroup(params.id)),
      handle(cannedAnswers.list, () => desk.canned()),
      handle(cannedAnswers.create, ({ body }) => desk.createCanned(body)),
      handle(cannedAnswers.update, ({ params, body }) => desk.updateCanned(params.id, body)),
      handle(cannedAnswers.delete, ({ params }) => desk.deleteCanned(params.id)),
      handle(ticketHours.get, () => tickets.hours()),
      handle(ticketHours.update, ({ body }) => tickets.setHours(body)),
    ],
    jobs: tickets.jobs,
    jobHandlers: tickets.jobHandlers,
    serve: (http, authorising) =>
      serveUploads(http, authorising, {
        path: ticketUploadPath(':id'),
        call: calls.uploaded,
        bytes: parts.bytes,
        uploadOf: tickets.upload,
        within: () => ({ call: calls.upload }),
      }),
  }
}
