import { z } from 'zod'
import type { Tx } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell, Telling } from '../sys/message/message.service.ts'
import { accountsOf, addressOf, getProvider } from './split.store.ts'

const mailJob = defineJob({ name: 'split.mail', input: z.object({ user_id: z.uuid(), text: z.string() }), concurrency: 4, retries: 5 })

/** As a mail leaves the platform; null: nothing is configured to send with. */
export interface SplitMail {
  signed(text: string): string
  send(message: { channel: 'email'; address: string; purpose: string; text: string }): Promise<void> | null
}

interface ProviderTelling {
  readonly kind: Telling['kind'] & `split.${string}`
  /** @param name what the provider is called */
  readonly text: (name: string) => string
  readonly about: (name: string) => Telling['about']
}
/** Tells the people of a provider, in the bell and by mail: those whose accounts are bound to it, and who manages its organisation. */
export type TellProvider = (tx: Tx, providerId: string, telling: ProviderTelling) => Promise<void>

/** Whom money is paid to hears of what becomes of it. */
export function createProviderTelling({ db, jobs }: Pick<Platform, 'db' | 'jobs'>, { tell, mail }: { tell: Tell; mail: SplitMail }) {
  const tellProvider: TellProvider = async (tx, providerId, { kind, text, about }) => {
    const provider = await getProvider(tx, providerId)
    if (provider === undefined) return
    const said = { kind, text: text(provider.name), about: about(provider.name) }
    for (const { id } of await accountsOf(tx, providerId)) {
      await tell(tx, { ...said, bp_id: null, user_id: id, key: uuidv7() })
      await jobs.send(tx, mailJob, { user_id: id, text: said.text })
    }
    if (provider.bp_id !== null) await tell(tx, { ...said, bp_id: provider.bp_id, key: uuidv7() })
  }
  return {
    tellProvider,
    job: mailJob,
    jobHandler: handleJob(mailJob, async ({ user_id, text }) => {
      const address = await addressOf(db, user_id)
      if (address !== null) await mail.send({ channel: 'email', address, purpose: 'split', text: mail.signed(text) })
    }),
  }
}
