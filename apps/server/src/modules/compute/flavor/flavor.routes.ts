import { computeFlavors as calls } from '@zhisuan/contract/compute/flavor'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { Flavors } from './flavor.service.ts'

export const flavorRoutes = (flavors: Flavors): Handler[] => [
  handleLines(calls.list, ({ actor, params, request, signal }) => flavors.list(actor, params.cloud_id, request.id, signal)),
  handle(calls.get, ({ actor, params }) => flavors.get(actor, params.cloud_id, params.id)),
]
