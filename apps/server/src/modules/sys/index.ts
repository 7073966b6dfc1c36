import { changes as changeCalls } from '@zhisuan/contract/change'
import { system } from '@zhisuan/contract/sys/sys'
import { scopeOf } from '../../platform/auth/actor.ts'
import { createChanges } from '../../platform/changes.ts'
import { createHeld } from '../../platform/held.ts'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { licenceRoutes } from './licence/licence.routes.ts'
import { createLicence, type LicenceService } from './licence/licence.service.ts'
import { licenceMigrations } from './licence/licence.store.ts'
import { messageRoutes } from './message/message.routes.ts'
import { createMessages, type Tell } from './message/message.service.ts'
import { messageMigrations } from './message/message.store.ts'
import { settingsRoutes } from './settings/settings.routes.ts'
import { createSettings, type Settings } from './settings/settings.service.ts'
import { settingsMigrations } from './settings/settings.store.ts'

/** The platform's own settings, its licence, what people are told within the console, and what tells consoles that something changed. */
export function createSys(platform: Platform): ModuleParts & {
  settings: Settings
  licence: LicenceService
  /** Tells an organisation, or the platform, what happened. */
  tell: Tell
} {
  const { config } = platform
  const settings = createSettings(platform)
  const licence = createLicence(platform)
  const messages = createMessages(platform, settings)
  const changes = createChanges(platform)
  const held = createHeld('longPolls')
  // Where nobody is sent anything, the inbox of development stands in: see ums/delivery.
  const development = config.ZHISUAN_ENV !== 'production'
  return {
    migrations: { ...settingsMigrations, ...licenceMigrations, ...messageMigrations },
    kinds: { 'sys.message': {} },
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
        return changes.wait(scopeOf(actor), query.after, gone.signal).finally(free)
      }),
      ...settingsRoutes(settings, config),
      ...licenceRoutes(licence),
      ...messageRoutes(messages),
    ],
    jobs: [messages.job],
    jobHandlers: [messages.jobHandler],
    start: () => licence.start(),
  }
}
