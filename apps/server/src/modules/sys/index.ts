import { system } from '@zhisuan/contract/sys/sys'
import type { Migrations } from '../../platform/db/database.ts'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import { licenceRoutes } from './licence/licence.routes.ts'
import { createLicence, type LicenceService } from './licence/licence.service.ts'
import { licenceMigrations } from './licence/licence.store.ts'
import { settingsRoutes } from './settings/settings.routes.ts'
import { createSettings, type Settings } from './settings/settings.service.ts'
import { settingsMigrations } from './settings/settings.store.ts'

export const sysMigrations: Migrations = { ...settingsMigrations, ...licenceMigrations }

/** The platform's own settings and its licence. */
export function createSys(platform: Platform): ModuleParts & { settings: Settings; licence: LicenceService } {
  const { config } = platform
  const settings = createSettings(platform)
  const licence = createLicence(platform)
  // Where nobody is sent anything, the inbox of development stands in: see ums/delivery.
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
      ...settingsRoutes(settings, config),
      ...licenceRoutes(licence),
    ],
    start: () => licence.start(),
  }
}
