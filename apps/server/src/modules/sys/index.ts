import { configs, licences, system } from '@zhisuan/contract/sys/sys'
import { handle } from '../../platform/http/handler.ts'
import type { Migrations } from '../../platform/db/database.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import { createLicence, licenceMigrations, type LicenceService } from './licence.ts'
import { createSettings, settingsMigrations, type Settings } from './settings.ts'

export const sysMigrations: Migrations = { ...settingsMigrations, ...licenceMigrations }

/** The platform's own settings and its licence. */
export function createSys(platform: Platform): ModuleParts & { settings: Settings; licence: LicenceService } {
  const { config } = platform
  const settings = createSettings(platform)
  const licence = createLicence(platform)
  const development = config.ZHISUAN_ENV !== 'production'
  return {
    settings,
    licence,
    handlers: [
      handle(system.info, async () => ({
        title: await settings.get('title'),
        version: config.version,
        register_mode: await settings.get('register_mode'),
        sms_available: development || config.SMS_GATEWAY_URL !== undefined,
        email_available: development || config.SMTP_URL !== undefined,
        development,
      })),
      handle(configs.list, ({ query }) => settings.list(query.key)),
      handle(configs.set, ({ body }) => settings.set(body.key, body.value)),
      handle(configs.reset, ({ query }) => settings.reset(query.key)),
      handle(licences.publicKey, () => licence.publicKey()),
      handle(licences.get, () => licence.get()),
      handle(licences.import, ({ body }) => licence.import(body.licence)),
    ],
    start: () => licence.start(),
  }
}
