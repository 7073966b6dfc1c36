import { lookups as calls } from '@zhisuan/contract/ecrm/region'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { LookupService } from './lookup.service.ts'
import { nations } from './nations.ts'

export const lookupRoutes = (lookups: LookupService): Handler[] => [
  handle(calls.nations, async () => ({ items: [...nations] })),
  handle(calls.divisions, async ({ params }) => ({ items: lookups.divisions(params.a, params.b) })),
  handle(calls.labelInputs, async ({ actor, params }) => ({ items: await lookups.labels(actor, params.x) })),
  handle(calls.taintInputs, async ({ actor, params }) => ({ items: await lookups.taints(actor, params.x) })),
  handle(calls.uniqueness, async ({ actor, body }) => ({ unique: await lookups.unique(actor, body) })),
]
