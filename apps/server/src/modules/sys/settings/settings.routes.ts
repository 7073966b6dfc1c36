import { configs } from '@zhisuan/contract/sys/sys'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { Settings } from './settings.service.ts'

export const settingsRoutes = (settings: Settings): Handler[] => [
  handle(configs.list, ({ query }) => settings.list(query.key)),
  handle(configs.set, ({ body }) => settings.set(body.key, body.value)),
  handle(configs.reset, ({ query }) => settings.reset(query.key)),
]
