import { audits } from '@zhisuan/contract/iam/audit'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { AuditService } from './audit.service.ts'

export const auditRoutes = (service: AuditService): Handler[] => [
  handle(audits.list, ({ actor, query }) => service.list(actor, query)),
  handle(audits.export, async ({ actor, body }) => service.export(actor, body)),
  handle(audits.verify, () => service.verify()),
]
