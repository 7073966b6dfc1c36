import { secondFactor } from '@zhisuan/contract/ums/second-factor'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { SecondFactors } from './second-factor.service.ts'

export const secondFactorRoutes = (service: SecondFactors): Handler[] => [
  handle(secondFactor.get, ({ actor }) => service.get(actor)),
  handle(secondFactor.begin, ({ actor, body }) => service.begin(actor, body)),
  handle(secondFactor.confirm, ({ actor, body }) => service.confirm(actor, body)),
  handle(secondFactor.renewCodes, ({ actor, body }) => service.renewCodes(actor, body)),
  handle(secondFactor.remove, ({ actor, body }) => service.remove(actor, body)),
]
