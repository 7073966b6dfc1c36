import { fillText } from '@zhisuan/contract/errors'
import { messageTexts } from '@zhisuan/contract/texts'
import { z } from 'zod'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { takeAway } from './presence.store.ts'

const minuteMs = 60_000
/** A restart, an upgrade or a weak line is over by then. */
export const awayMs = 10 * minuteMs

export const awayJob = defineJob({ name: 'ecrm.edge.away', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** Tells whose a node is that it has been away for long: once for each time that it goes away. */
export function createAway({ db, now }: Pick<Platform, 'db' | 'now'>, { tell }: { tell: Tell }) {
  // While no server was there no node could be connected: each has had its time to come back first.
  const since = now().getTime()
  const look = async (): Promise<void> => {
    const before = now().getTime() - awayMs
    if (since > before) return
    await db.transaction().execute(async (tx) => {
      for (const { id, bp_id, name, seen_at } of await takeAway(tx, new Date(before)))
        await tell(tx, {
          kind: 'ecrm.edgeAway',
          bp_id,
          text: fillText(messageTexts.edgeAway, { name, minutes: awayMs / minuteMs }),
          about: { kind: 'ecrm.edge', id, name },
          key: `${id} ${seen_at.toISOString()}`,
        })
    })
  }
  return { look, jobHandler: handleJob(awayJob, look) }
}
