import { quotas as calls } from '@zhisuan/contract/nextstack/quota'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { QuotaService } from './quota.service.ts'

export const quotaRoutes = (quotas: QuotaService): Handler[] => [
  handle(calls.mine, ({ actor, query }) => quotas.mine(actor, query.project_id)),
  handle(calls.list, ({ query }) => quotas.list(query)),
  handle(calls.get, ({ params, query }) => quotas.get(params.bp_id, query.project_id)),
  handle(calls.set, ({ params, body }) => quotas.set(params.bp_id, body)),
  handle(calls.defaults, () => quotas.defaults()),
  handle(calls.setDefaults, ({ body }) => quotas.setDefaults(body.limits)),
]
