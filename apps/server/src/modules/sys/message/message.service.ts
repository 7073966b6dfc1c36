import type { QueryOf } from '@zhisuan/contract/define'
import type { Kind } from '@zhisuan/contract/kind'
import type { Message, MessageCategory, MessageKind, messages as calls } from '@zhisuan/contract/sys/message'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Settings } from '../settings/settings.service.ts'
import * as store from './message.store.ts'

/** Something that people are told within the console. */
export interface Telling {
  readonly kind: MessageKind
  /** Whom: those of an organisation, or null: who runs the platform. */
  readonly bp_id: string | null
  /** One person, and nobody else; left out: all whom its kind is for. */
  readonly user_id?: string
  /** In Chinese; whoever tells it has the words. */
  readonly text: string
  /** What it leads to. */
  readonly about: { readonly kind: Kind; readonly id: string; readonly name: string }
  /** What happened: of one kind and one key nobody is told twice. */
  readonly key: string
}

/** Tells it in the transaction in which it happened: if and only if that comes to be. Open consoles hear of it at once. */
export type Tell = (tx: Tx, message: Telling) => Promise<unknown>

/** For who has to know whether it was told now, and not before. */
export type TellOnce = (tx: Tx, message: Telling) => Promise<boolean>

const dayMs = 24 * 60 * 60_000

const cleanJob = defineJob({ name: 'sys.message.clean', input: z.object({}), concurrency: 1, schedule: '37 * * * *' })

export type MessageService = ReturnType<typeof createMessages>

/** The message centre: what modules tell, and who has read it. */
export function createMessages({ db, now }: Pick<Platform, 'db' | 'now'>, settings: Pick<Settings, 'get'>) {
  const readerOf = (actor: Actor): store.Reader => ({
    user_id: actor.user_id,
    scope: scopeOf(actor),
    manages: actor.kind === 2 || actor.kind === 3 || actor.built_in_roles.includes('TENANT_ADMIN'),
  })
  const tell: TellOnce = async (tx, { about, user_id = null, ...message }) => {
    const row = { ...message, user_id, id: uuidv7(), about_kind: about.kind, about_id: about.id, about_name: about.name, at: now() }
    const told = await store.insertMessage(tx, row)
    if (told) await store.insertUnread(tx, row)
    return told
  }
  const clean = async (): Promise<void> => store.deleteMessagesBefore(db, new Date(now().getTime() - Number(await settings.get('message_days')) * dayMs))

  return {
    tell,
    clean,
    job: cleanJob,
    jobHandler: handleJob(cleanJob, clean),
    list: (actor: Actor, query: QueryOf<typeof calls.list>): Promise<{ total: number; items: Message[] }> => store.listMessages(db, readerOf(actor), query),
    unread: async (actor: Actor): Promise<{ count: number }> => ({ count: await store.countUnread(db, readerOf(actor)) }),
    read: ({ user_id }: Actor, ids: readonly string[]): Promise<void> => store.markRead(db, user_id, ids),
    readAll: ({ user_id }: Actor, category: MessageCategory | undefined): Promise<void> => store.markAllRead(db, user_id, category),
  }
}
