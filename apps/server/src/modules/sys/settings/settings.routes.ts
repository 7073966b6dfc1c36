import { configs } from '@zhisuan/contract/sys/sys'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { Config } from '../../../platform/config.ts'
import { environmentOf } from './environment.ts'
import type { Settings } from './settings.service.ts'

export const settingsRoutes = (settings: Settings, config: Config): Handler[] => [
  handle(configs.list, ({ query }) => settings.list(query.key)),
  handle(configs.set, ({ actor, body }) => settings.set(actor, body.key, body.value)),
  handle(configs.reset, ({ actor, query }) => settings.reset(actor, query.key)),
  handle(configs.changes, ({ query }) => settings.changes(query)),
  handle(configs.environment, async () => environmentOf(config)),
]
