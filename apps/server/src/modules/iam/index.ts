import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { TellOnce } from '../sys/message/message.service.ts'
import { auditRoutes } from './audit/audit.routes.ts'
import { createAuditService } from './audit/audit.service.ts'
import { decisionRoutes } from './decision/decision.routes.ts'
import { createDecisionService, type DecisionService } from './decision/decision.service.ts'
import { grantRoutes } from './grant/grant.routes.ts'
import { createGrantService } from './grant/grant.service.ts'
import { keepReadyMade } from './ready-made/ready-made.ts'
import { policyRoutes } from './policy/policy.routes.ts'
import { createPolicyService } from './policy/policy.service.ts'
import { projectRoutes } from './project/project.routes.ts'
import { createProjectService } from './project/project.service.ts'
import { roleRoutes } from './role/role.routes.ts'
import { createRoleService } from './role/role.service.ts'
import { createLimits, type Limits } from './rules/limits.ts'
import { createRules, type RulesService } from './rules/rules.ts'
import { scopeOf } from '../../platform/auth/actor.ts'
import { iamMigrations } from './iam.migrations.ts'
import { liveUpdatesMigrations } from './policy/live-updates.migration.ts'
import { serviceRoutes } from './service/service.routes.ts'
import { createServiceService } from './service/service.service.ts'
import { serviceMigrations } from './service/service.store.ts'
import { customActionsOf } from './service/vocabulary.ts'

/** Roles and policies: what somebody may do. Who they are, is ums. */
export function createIam(
  platform: Platform,
  { tell }: { tell: TellOnce },
): ModuleParts & {
  rules: RulesService
  limits: Limits
  /** What policies refuse somebody whatever it is about. */
  refused: DecisionService['refused']
} {
  const rules = createRules(platform)
  const limits = createLimits(rules, (on, actor) => customActionsOf(on, scopeOf(actor)))
  const decisions = createDecisionService(platform, rules, tell)
  return {
    refused: decisions.refused,
    migrations: { ...iamMigrations, ...liveUpdatesMigrations, ...serviceMigrations },
    rules,
    limits,
    kinds: { 'iam.policy': { table: 'policies' }, 'iam.role': { table: 'roles' }, 'iam.project': { table: 'projects' } },
    handlers: [
      ...policyRoutes(createPolicyService(platform, limits)),
      ...roleRoutes(createRoleService(platform, limits)),
      ...projectRoutes(createProjectService(platform, limits)),
      ...grantRoutes(createGrantService(platform, limits)),
      ...decisionRoutes(decisions),
      ...auditRoutes(createAuditService(platform)),
      ...serviceRoutes(createServiceService(platform, limits)),
    ],
    start: () => keepReadyMade(platform.db, rules.tell),
    stop: async () => rules.stop(),
  }
}
