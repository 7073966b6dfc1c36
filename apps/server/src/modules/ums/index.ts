import { auth, verification as verificationCalls } from '@zhisuan/contract/ums/auth'
import { consultations } from '@zhisuan/contract/ums/consultation'
import { organisations, users as userCalls } from '@zhisuan/contract/ums/user'
import { sql } from 'kysely'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { iso, type Tx } from '../../platform/db/database.ts'
import { containing, paged } from '../../platform/db/page.ts'
import { Refusal } from '../../platform/errors.ts'
import { handle } from '../../platform/http/handler.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import type { Settings } from '../sys/settings.ts'
import { createSessionService, type Tokens } from './session/session.service.ts'
import { createUserService } from './user/user.service.ts'
import { createVerificationService } from './verification/verification.service.ts'

export { umsMigrations } from './ums.migrations.ts'

const refreshCookie = 'zs_refresh'
const cleanJob = defineJob({ name: 'ums.session.clean', input: z.object({}), concurrency: 1, schedule: '17 * * * *' })

/** Organisations, users, sessions, codes: who somebody is. */
export function createUms(
  platform: Platform,
  others: { settings: Settings; openAccount: (tx: Tx, ownerId: string) => Promise<void> },
): ModuleParts & {
  authenticate: (token: string) => Actor | null | Promise<Actor | null>
  onSessionEnded: (told: (gone: { session_id?: string; user_id?: string }) => void) => void
  serveDevelopmentInbox: (app: FastifyInstance) => void
  firstPassword: () => string | null
} {
  const { db, config } = platform
  const sessions = createSessionService(platform)
  const verification = createVerificationService(platform)
  const users = createUserService(platform, { sessions, verification, ...others })
  let firstPassword: string | null = null

  const client = (request: FastifyRequest) => ({ ip: request.ip, userAgent: request.headers['user-agent'] ?? '' })
  const secure = config.PUBLIC_URL?.startsWith('https:') === true
  const cookieOptions = { path: '/api/ums/v1/auth', httpOnly: true, sameSite: 'strict', secure } as const
  /** The access token goes in the body, the refresh token into a cookie that no script can read. */
  const hand = ({ refresh, ...answer }: Tokens, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store')
    if (refresh !== null) reply.setCookie(refreshCookie, refresh.token, { ...cookieOptions, expires: refresh.expires_at })
    return answer
  }

  return {
    authenticate: sessions.authenticate,
    onSessionEnded: sessions.onEnded,
    firstPassword: () => firstPassword,
    jobs: [verification.job, cleanJob],
    jobHandlers: [
      verification.jobHandler,
      handleJob(cleanJob, async () => {
        await sessions.clean()
        await verification.clean()
      }),
    ],
    start: async () => {
      firstPassword = await users.seed()
    },

    handlers: [
      handle(auth.password, async ({ body, request, reply }) => hand(await sessions.signIn(body.username, body.password, client(request)), reply)),
      handle(auth.sms, async ({ body, request, reply }) => hand(await users.signInBySms(body, client(request)), reply)),
      handle(auth.refresh, async ({ request, reply }) => hand(await sessions.refresh(request.cookies[refreshCookie]), reply)),
      handle(auth.logout, async ({ actor, reply }) => {
        await sessions.end(actor.session_id)
        reply.clearCookie(refreshCookie, cookieOptions)
      }),
      handle(auth.register, ({ body }) => users.register(body)),
      handle(auth.retrievePassword, ({ body }) => users.retrievePassword(body)),

      handle(verificationCalls.registrationSms, async ({ params, request }) => {
        if ((await others.settings.get('register_mode')) === 'closed') throw new Refusal('registrationClosed')
        if (await users.isKnownPhone(params.phone)) throw new Refusal('phoneTaken', { field: 'phone' })
        return verification.send('registration', 'sms', params.phone, request.ip)
      }),
      handle(verificationCalls.authSms, async ({ params, request }) =>
        verification.send('auth', 'sms', params.phone, request.ip, !(await users.isKnownPhone(params.phone))),
      ),
      handle(verificationCalls.consultationSms, ({ params, request }) => verification.send('consultation', 'sms', params.phone, request.ip)),
      handle(verificationCalls.patchSms, async ({ params, request }) => {
        if (await users.isKnownPhone(params.phone)) throw new Refusal('phoneTaken', { field: 'phone' })
        return verification.send('patch-phone', 'sms', params.phone, request.ip)
      }),
      handle(verificationCalls.authEmail, async ({ actor, params, request }) => {
        const { email } = await users.current(actor)
        return verification.send('auth-email', 'email', params.email, request.ip, email?.toLowerCase() !== params.email)
      }),
      handle(verificationCalls.patchEmail, ({ params, request }) => verification.send('patch-email', 'email', params.email, request.ip)),

      handle(userCalls.list, ({ actor, query }) => users.list(actor, query)),
      handle(userCalls.delete, ({ actor, params }) => users.remove(actor, params.id)),
      handle(userCalls.current, ({ actor }) => users.current(actor)),
      handle(userCalls.updateCurrent, ({ actor, body }) => users.updateCurrent(actor, body)),
      handle(userCalls.changePassword, ({ actor, body }) => users.changePassword(actor, body)),
      handle(userCalls.changePhone, ({ actor, body }) => users.changePhone(actor, body)),
      handle(userCalls.changeEmail, ({ actor, body }) => users.changeEmail(actor, body)),

      handle(organisations.list, async ({ actor, query }) => {
        const scope = scopeOf(actor)
        const filtered = db
          .selectFrom('organisations')
          .$if('bp_id' in scope, (q) => q.where('organisations.id', '=', 'bp_id' in scope ? scope.bp_id : ''))
          .$if('nothing' in scope, (q) => q.where(sql<boolean>`false`))
          .$if(query.status !== undefined, (q) => q.where('status', '=', query.status ?? 'active'))
          .$if(query.keyword !== undefined && query.keyword !== '', (q) => q.where('name', 'ilike', containing(query.keyword ?? '')))
        const [count, rows] = await Promise.all([
          filtered.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
          paged(
            filtered
              .selectAll('organisations')
              .select(sql<number>`(select count(*) from users where users.bp_id = organisations.id and users.deleted_at is null)`.as('user_count')),
            query,
            { by: { name: 'organisations.name', created_at: 'organisations.created_at' }, fallback: '-created_at', id: 'organisations.id' },
          ).execute(),
        ])
        return { total: count.total, items: rows.map((row) => ({ ...row, created_at: iso(row.created_at) })) }
      }),

      handle(consultations.leave, async ({ body }) => {
        const id = uuidv7()
        await db.transaction().execute(async (tx) => {
          await verification.use(tx, 'consultation', body.phone, body.code)
          await tx.insertInto('consultations').values({ id, name: body.name, phone: body.phone, content: body.content }).execute()
        })
        return { id }
      }),
      handle(consultations.list, async ({ query }) => {
        const filtered = db
          .selectFrom('consultations')
          .$if(query.keyword !== undefined && query.keyword !== '', (q) => q.where('content', 'ilike', containing(query.keyword ?? '')))
        const [count, rows] = await Promise.all([
          filtered.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
          paged(filtered.selectAll(), query, { by: { created_at: 'created_at' }, fallback: '-created_at', id: 'id' }).execute(),
        ])
        return { total: count.total, items: rows.map((row) => ({ ...row, created_at: iso(row.created_at) })) }
      }),
    ],

    /** Where codes that nobody was sent can be read. Not there at all in production. */
    serveDevelopmentInbox: (app) => {
      if (config.ZHISUAN_ENV === 'production') return
      app.get('/api/dev/v1/inbox', async () => ({
        items: await db.selectFrom('development_inbox').select(['channel', 'address', 'purpose', 'text', 'created_at']).orderBy('created_at', 'desc').limit(50).execute(),
      }))
    },
  }
}
