import type { Kind } from '@zhisuan/contract/kind'
import type { TicketType } from '@zhisuan/contract/ticket/ticket'
import { paths, withQuery } from '../paths.ts'

/** A work order that somebody is about to open. */
export interface TicketWish {
  readonly about: { readonly kind: Kind; readonly id: string; readonly name: string }
  /** What is filled in; they change it as they like. */
  readonly type?: TicketType
  readonly title?: string
  readonly text?: string
}

/** Where somebody opens a work order about a thing. */
export const ticketPath = ({ about, ...filled }: TicketWish): string =>
  withQuery(paths.ticket.list(), { about_kind: about.kind, about_id: about.id, about_name: about.name, ...filled })
