import { keystoneProjects as calls } from '@zhisuan/contract/compute/project'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { KeystoneProjects } from './project.service.ts'

export const keystoneProjectRoutes = (projects: KeystoneProjects): Handler[] => [
  handleLines(calls.list, ({ params, request, signal }) => projects.list(params.cloud_id, request.id, signal)),
  handle(calls.problems, ({ query }) => projects.problems(query)),
  handle(calls.adopt, ({ params, body }) => projects.adopt(params.cloud_id, params.id, body)),
  handle(calls.delete, ({ params }) => projects.delete(params.cloud_id, params.id)),
  handle(calls.quota, ({ params, request }) => projects.quota(params.cloud_id, params.id, request.id)),
  handle(calls.setQuota, ({ params, body, request }) => projects.setQuota(params.cloud_id, params.id, body.limits, request.id)),
  handle(calls.mine, ({ actor, params, request }) => projects.mine(actor, params.cloud_id, request.id)),
]
