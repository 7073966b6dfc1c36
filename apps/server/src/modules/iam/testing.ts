import type { Platform } from '../../platform/platform.ts'
import { createRules, type RulesService } from './rules/rules.ts'

/** For tests of what holds on to rules, apart from the server's own. */
export const ownRules = (platform: Platform): RulesService => createRules(platform)
