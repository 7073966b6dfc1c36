import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { projectRoutes } from './project/project.routes.ts'

/** Projects as the work-order system sees them. */
export const createIssue = (platform: Platform): ModuleParts => ({ handlers: projectRoutes(platform.db) })
