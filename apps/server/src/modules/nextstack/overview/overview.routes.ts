import { overview as calls } from '@zhisuan/contract/nextstack/overview'
import { handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { OverviewService } from './overview.service.ts'

export const overviewRoutes = (overview: OverviewService): Handler[] => [
  handleShared(calls.get, ({ scope }) => overview.get(scope)),
  handleShared(calls.events, ({ scope, query }) => overview.events(scope, query.limit)),
  handleShared(calls.trends, ({ scope, query }) => overview.trends(scope, query.range)),
]
