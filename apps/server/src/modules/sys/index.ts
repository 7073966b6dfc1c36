import { changes as changeCalls } from '@zhisuan/contract/change'
import { system } from '@zhisuan/contract/sys/sys'
import { scopeOf } from '../../platform/auth/actor.ts'
import { createChanges } from '../../platform/changes.ts'
import { Refusal } from '../../platform/errors.ts'
import { createHeld } from '../../platform/held.ts'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { createOutboundGuard } from '../../platform/outbound/guard.ts'
import { createBundleFiles } from './bundle/bundle.files.ts'
import { createBundleOperations } from './bundle/bundle.operations.ts'
import { bundleRoutes, serveBundles } from './bundle/bundle.routes.ts'
import { createBundles, type BundleService } from './bundle/bundle.service.ts'
import { bundleMigrations } from './bundle/bundle.store.ts'
import { licenceRoutes } from './licence/licence.routes.ts'
import { createLicence, type LicenceService } from './licence/licence.service.ts'
import { licenceMigrations } from './licence/licence.store.ts'
import { messageRoutes } from './message/message.routes.ts'
import { createMessages, type TellOnce } from './message/message.service.ts'
import { messageMigrations } from './message/message.store.ts'
import { settingsRoutes } from './settings/settings.routes.ts'
import { createSettings, type Settings } from './settings/settings.service.ts'
import { settingsMigrations } from './settings/settings.store.ts'

/** The platform's own settings, its licence, what people are told within the console, and what tells consoles that something changed. */
export function createSys(platform: Platform): ModuleParts & {
  settings: Settings
  licence: LicenceService
  /** Tells an organisation, or the platform, what happened. */
  tell: TellOnce
  /** Programs that the platform has for nodes. */
  bundles: Pick<BundleService, 'programOf'>
} {
  const { config } = platform
  const settings = createSettings(platform)
  const licence = createLicence(platform)
  const messages = createMessages(platform, settings)
  const changes = createChanges(platform)
  const files = createBundleFiles(config.DATA_DIR)
  const guard = createOutboundGuard({ allow: config.IMAGE_FETCH_ALLOW, publicUrl: config.PUBLIC_URL })
  const bundleOperations = createBundleOperations({ db: platform.db, files, guard })
  const bundles = createBundles(platform, { files, operations: bundleOperations, guard })
  const held = createHeld('longPolls')
  // Where nobody is sent anything, the inbox of development stands in: see ums/delivery.
  const development = config.ZHISUAN_ENV !== 'production'
  return {
    migrations: { ...settingsMigrations, ...licenceMigrations, ...messageMigrations, ...bundleMigrations },
    kinds: { 'sys.message': {}, 'sys.bundle': { table: 'bundles' } },
    bundles,
    settings,
    licence,
    tell: messages.tell,
    drain: changes.stop,
    handlers: [
      handle(system.info, async () => ({
        title: await settings.get('title'),
        support_phone: await settings.get('support_phone'),
        version: config.version,
        register_mode: await settings.get('register_mode'),
        sms_available: development || config.SMS_GATEWAY_URL !== undefined,
        email_available: development || config.SMTP_URL !== undefined,
        development,
      })),
      handle(changeCalls.wait, async ({ actor, query, reply }) => {
        const free = held.take(actor.user_id)
        const gone = new AbortController()
        reply.raw.once('close', () => gone.abort())
        let ended = false
        const answered = platform.openStreams.addWait({
          session_id: actor.session_id,
          end: (why) => {
            ended = why === 'session'
            gone.abort()
          },
        })
        const answer = await changes.wait(scopeOf(actor), query.after, gone.signal).finally(() => {
          free()
          answered()
        })
        if (ended) throw new Refusal('tokenInvalid')
        return answer
      }),
      ...settingsRoutes(settings, config),
      ...licenceRoutes(licence),
      ...messageRoutes(messages),
      ...bundleRoutes(bundles),
    ],
    jobs: [messages.job],
    jobHandlers: [messages.jobHandler],
    operations: Object.values(bundleOperations),
    serve: (http, authorising) => serveBundles(http, authorising, bundles),
    start: async () => {
      await files.dropParts()
      await licence.start()
    },
  }
}
