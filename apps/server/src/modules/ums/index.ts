import { auth } from '@zhisuan/contract/ums/auth'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Credential } from '../../platform/auth/credential.ts'
import type { Tx } from '../../platform/db/database.ts'
import { handle } from '../../platform/http/handler.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { NoticeSender } from '../bill/notice/notice.service.ts'
import type { DecisionService } from '../iam/decision/decision.service.ts'
import type { Limits } from '../iam/rules/limits.ts'
import type { RulesService } from '../iam/rules/rules.ts'
import type { Tell } from '../sys/message/message.service.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import { accessKeyRoutes } from './access-key/access-key.routes.ts'
import { createAccessKeyService } from './access-key/access-key.service.ts'
import { accessKeyMigrations } from './access-key/access-key.store.ts'
import { isAccessKeyToken } from './access-key/access-key.secret.ts'
import { createAccessKeys } from './access-key/access-keys.ts'
import { consultationRoutes } from './consultation/consultation.routes.ts'
import { createConsultationService } from './consultation/consultation.service.ts'
import { serveDevelopmentInbox } from './delivery/delivery.routes.ts'
import { createDelivery } from './delivery/delivery.service.ts'
import { deleteInboxBefore } from './delivery/delivery.store.ts'
import { organisationRoutes } from './organisation/organisation.routes.ts'
import { invitationRoutes } from './invitation/invitation.routes.ts'
import { createInvitationService } from './invitation/invitation.service.ts'
import { invitationMigrations } from './invitation/invitation.store.ts'
import { createOrganisationService } from './organisation/organisation.service.ts'
import { createOidcClients } from './oidc/oidc.client.ts'
import { oidcRoutes, serveSignOn } from './oidc/oidc.routes.ts'
import { createProviders } from './oidc/provider.service.ts'
import { oidcMigrations } from './oidc/provider.store.ts'
import { createIdentities } from './oidc/identity.service.ts'
import { createSignOn } from './oidc/sign-on.service.ts'
import { passkeyRoutes } from './passkey/passkey.routes.ts'
import { createPasskeys } from './passkey/passkey.service.ts'
import { passkeyMigrations } from './passkey/passkey.store.ts'
import { secondFactorRoutes } from './second-factor/second-factor.routes.ts'
import { createSecondFactors } from './second-factor/second-factor.service.ts'
import { createActors } from './session/actors.ts'
import { createGuesses } from './session/guesses.ts'
import { guessMigrations } from './session/guesses.migration.ts'
import { hashPassword, verifyPassword } from './session/password.ts'
import { createProof, type Proof } from './session/proof.ts'
import { handTokens, sessionRoutes } from './session/session.routes.ts'
import { createSessionService } from './session/session.service.ts'
import { userRoutes } from './user/user.routes.ts'
import { createKeepService } from './user/keep.service.ts'
import { createUserService } from './user/user.service.ts'
import { verificationRoutes } from './verification/verification.routes.ts'
import { createVerificationService } from './verification/verification.service.ts'
import { messageTexts } from './texts.ts'
import { umsMigrations as ownMigrations } from './ums.migrations.ts'

const cleanJob = defineJob({ name: 'ums.session.clean', input: z.object({}), concurrency: 1, schedule: '17 * * * *' })
const cleanKeysJob = defineJob({ name: 'ums.accessKey.clean', input: z.object({}), concurrency: 1, schedule: '*/5 * * * *' })

/** Organisations, users, sessions, codes: who somebody is. */
export function createUms(
  platform: Platform,
  others: { settings: Settings; rules: Pick<RulesService, 'of' | 'watch'>; limits: Limits; refused: DecisionService['refused']; tell: Tell },
): ModuleParts & {
  /**
   * Whom a credential stands for; at once, without a promise, where it is remembered.
   * @throws Refusal 1135, 91012, 91201 to 91204, 91207 to 91209 for access keys
   */
  authenticate: (credential: Credential, ip: string) => Actor | null | Promise<Actor | null>
  /** Whom a session is of, or an access key, now; null where it has ended, or who it is of may not sign in any more. */
  actorOf: (sessionId: string) => Promise<Actor | null>
  /** Who asked for something earlier, as what they are by now; null where they may not sign in any more. */
  personOf: (userId: string) => Promise<Actor | null>
  /** How passwords are kept, for those that are beside the one of an account. */
  passwords: { hash(password: string): Promise<string>; verify(hash: string | null, password: string): Promise<boolean> }
  /** Secrets of access keys, where they come otherwise than as a request’s token. */
  accessKeys: { isOne(secret: string): boolean; actorOf(secret: string, ip: string): Promise<Actor | null> }
  /** How organisations are told about their money. */
  notices: NoticeSender
  /** Asked of whoever makes a dangerous change: that it is they. */
  prove: Proof
  /** Of the administrator that this start made; null where there was one. */
  firstPassword: () => string | null
} {
  const { config, db } = platform
  const actors = createActors(platform, others.rules)
  actors.watch((gone) => {
    if ('session' in gone) platform.openStreams.sessionEnded(gone.session)
  })
  const unsubscribe = platform.bus.subscribe(
    'ums.session',
    () => undefined,
    // Those that ended while this server heard nothing. It is called again when it hears: the database may not answer yet.
    () => {
      for (const session of platform.openStreams.sessions()) {
        actorOf(session).then(
          (actor) => actor ?? platform.openStreams.sessionEnded(session),
          (error: unknown) => platform.log.warn({ err: error }, 'looking for sessions that ended'),
        )
      }
    },
  )
  const organisationMade = async (tx: Tx, bpId: string): Promise<void> => {
    for (const module of platform.modules()) await module.organisationMade?.(tx, bpId)
  }
  const personDeleted = async (tx: Tx, userId: string): Promise<void> => {
    for (const module of platform.modules()) await module.personDeleted?.(tx, userId)
  }
  const delivery = createDelivery(platform)
  const guesses = createGuesses(platform, { delivery, tell: others.tell })
  const secondFactors = createSecondFactors(platform, { guesses, actors, issuer: () => others.settings.get('title') })
  const sessions = createSessionService(platform, { actors, guesses, secondFactors })
  const verification = createVerificationService(platform)
  const prove = createProof(platform, { guesses, secondFactors })
  const passkeys = createPasskeys(platform, { sessions, prove, title: () => others.settings.get('title') })
  const clients = createOidcClients(platform)
  const providers = createProviders(platform, { clients, limits: others.limits })
  const signOn = createSignOn(platform, { clients, sessions, guesses, secondFactors, actors, prove })
  const keep = createKeepService(platform, { sessions, secondFactors, resetPasskeys: passkeys.reset, limits: others.limits })
  const users = createUserService(platform, { sessions, guesses, verification, keep, secondFactors, organisationMade, personDeleted, ...others })
  const accessKeys = createAccessKeys(platform, actors)
  const actorOf = async (sessionId: string): Promise<Actor | null> => (await actors.ofSession(sessionId)) ?? accessKeys.actorOf(sessionId)
  const organisations = createOrganisationService(platform, { sessions, organisationMade })
  const board = createConsultationService(platform, verification)
  const hand = handTokens(config, actors)
  let firstPassword: string | null = null

  return {
    migrations: { ...ownMigrations, ...guessMigrations, ...invitationMigrations, ...passkeyMigrations, ...oidcMigrations, ...accessKeyMigrations },
    kinds: { 'ums.user': { table: 'users' }, 'ums.organisation': { table: 'organisations' } },
    authenticate: (credential, ip) => {
      if ('signature' in credential) return accessKeys.ofSignature(credential.signature, ip)
      return isAccessKeyToken(credential.token) ? accessKeys.ofToken(credential.token, ip) : actors.of(credential.token)
    },
    actorOf,
    personOf: actors.ofPerson,
    passwords: { hash: hashPassword, verify: verifyPassword },
    accessKeys: { isOne: isAccessKeyToken, actorOf: async (secret, ip) => accessKeys.ofToken(secret, ip) },
    notices: {
      text: messageTexts.notice,
      signed: messageTexts.signed,
      send: (message) => delivery[message.channel]?.({ ...message, subject: messageTexts.noticeSubject }) ?? null,
    },
    prove,
    firstPassword: () => firstPassword,
    serve: (http) => {
      serveDevelopmentInbox(http, platform)
      serveSignOn(http, config, signOn)
    },
    handlers: [
      ...sessionRoutes(config, sessions, users, hand),
      ...userRoutes(users, keep),
      ...organisationRoutes(organisations),
      ...verificationRoutes(verification, users),
      ...consultationRoutes(db, board),
      ...secondFactorRoutes(secondFactors),
      ...passkeyRoutes(passkeys, hand),
      ...accessKeyRoutes(createAccessKeyService(platform, { actors, prove, keep })),
      ...oidcRoutes(config, providers, createIdentities(platform), signOn, hand),
      handle(auth.ways, async ({ query }) => ({ passkeys: passkeys.available, providers: await signOn.offered(query.organisation ?? null) })),
      ...invitationRoutes(createInvitationService(platform, { verification, limits: others.limits })),
    ],
    jobs: [...verification.jobs, ...guesses.jobs, cleanJob, cleanKeysJob],
    jobHandlers: [
      ...verification.jobHandlers,
      ...guesses.jobHandlers,
      handleJob(cleanKeysJob, accessKeys.clean),
      handleJob(cleanJob, async () => {
        await sessions.clean()
        await guesses.clean()
        await verification.clean()
        await passkeys.clean()
        await signOn.clean()
        await deleteInboxBefore(db, new Date(platform.now().getTime() - 24 * 60 * 60_000))
      }),
    ],
    start: async () => {
      firstPassword = await users.seed()
    },
    stop: async () => {
      unsubscribe()
      actors.stop()
    },
  }
}
