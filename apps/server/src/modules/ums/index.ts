import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Tx } from '../../platform/db/database.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import { consultationRoutes } from './consultation/consultation.routes.ts'
import { createConsultationService } from './consultation/consultation.service.ts'
import { serveDevelopmentInbox } from './delivery/delivery.routes.ts'
import { deleteInboxBefore } from './delivery/delivery.store.ts'
import { organisationRoutes } from './organisation/organisation.routes.ts'
import { createActors } from './session/actors.ts'
import { createGuesses } from './session/guesses.ts'
import { sessionRoutes } from './session/session.routes.ts'
import { createSessionService } from './session/session.service.ts'
import { userRoutes } from './user/user.routes.ts'
import { createUserService } from './user/user.service.ts'
import { verificationRoutes } from './verification/verification.routes.ts'
import { createVerificationService } from './verification/verification.service.ts'

export { umsMigrations } from './ums.migrations.ts'

const cleanJob = defineJob({ name: 'ums.session.clean', input: z.object({}), concurrency: 1, schedule: '17 * * * *' })

/** Organisations, users, sessions, codes: who somebody is. */
export function createUms(
  platform: Platform,
  others: { settings: Settings; openAccount: (tx: Tx, ownerId: string) => Promise<void> },
): ModuleParts & {
  /** Whom a token stands for; at once, without a promise, where it is remembered. */
  authenticate: (token: string) => Actor | null | Promise<Actor | null>
  /** Told on every server when a session has ended, so that what it opened ends too. */
  onSessionEnded: (told: (gone: { session_id: string }) => void) => void
  serveDevelopmentInbox: (http: FastifyInstance) => void
  /** Of the administrator that this start made; null where there was one. */
  firstPassword: () => string | null
} {
  const { config, db } = platform
  const actors = createActors(platform)
  const guesses = createGuesses(platform)
  const sessions = createSessionService(platform, { actors, guesses })
  const verification = createVerificationService(platform)
  const users = createUserService(platform, { sessions, guesses, verification, ...others })
  const board = createConsultationService(platform, verification)
  let firstPassword: string | null = null

  return {
    authenticate: actors.of,
    onSessionEnded: (told) =>
      actors.watch((gone) => {
        if ('session' in gone) told({ session_id: gone.session })
      }),
    firstPassword: () => firstPassword,
    serveDevelopmentInbox: (http) => serveDevelopmentInbox(http, platform),
    handlers: [
      ...sessionRoutes(config, sessions, users),
      ...userRoutes(users),
      ...organisationRoutes(db),
      ...verificationRoutes(verification, users),
      ...consultationRoutes(db, board),
    ],
    jobs: [...verification.jobs, cleanJob],
    jobHandlers: [
      ...verification.jobHandlers,
      handleJob(cleanJob, async () => {
        await sessions.clean()
        await verification.clean()
        await deleteInboxBefore(db, new Date(platform.now().getTime() - 24 * 60 * 60_000))
      }),
    ],
    start: async () => {
      firstPassword = await users.seed()
    },
    stop: async () => actors.stop(),
  }
}
