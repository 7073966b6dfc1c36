import { splitContracts, splitRuns } from '@zhisuan/contract/split/contract'
import { splitFigures, splitProviders } from '@zhisuan/contract/split/provider'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import { createSplit } from './split.service.ts'
import { splitMigrations } from './split.store.ts'

/** The split centre. */
export function createSplitModule(platform: Platform, parts: { tell: Tell }): ModuleParts {
  const split = createSplit(platform, parts)
  return {
    migrations: splitMigrations,
    kinds: {
      'split.contract': { table: 'split_contracts' },
      'split.run': { table: 'split_runs', name: 'period', seen: split.seen },
      'split.provider': { table: 'market_providers' },
    },
    handlers: [
      handle(splitContracts.list, ({ query }) => split.contracts(query)),
      handle(splitContracts.get, ({ params }) => split.contract(params.id)),
      handle(splitContracts.create, ({ actor, body }) => split.create(actor, body)),
      handle(splitContracts.amend, ({ params, body }) => split.amend(params.id, body)),
      handle(splitContracts.sign, ({ actor, params }) => split.sign(actor, params.id)),
      handle(splitContracts.end, ({ params, body }) => split.end(params.id, body.after)),
      handle(splitContracts.delete, ({ params }) => split.remove(params.id)),
      handle(splitContracts.try, ({ body }) => split.try(body)),
      handle(splitRuns.list, ({ actor, query }) => split.runs(actor, query)),
      handle(splitRuns.get, ({ actor, params }) => split.run(actor, params.id)),
      handle(splitRuns.lines, ({ actor, params, query }) => split.lines(actor, params.id, query)),
      handle(splitRuns.create, ({ actor, body }) => split.split(actor, body)),
      handle(splitRuns.confirm, ({ actor, params }) => split.confirm(actor, params.id)),
      handle(splitRuns.dispute, ({ actor, params, body }) => split.dispute(actor, params.id, body.reason)),
      handle(splitRuns.answer, ({ actor, params, body }) => split.answer(actor, params.id, body.text)),
      handle(splitRuns.pay, ({ actor, params, body }) => split.pay(actor, params.id, body.reference)),
      handle(splitRuns.export, ({ actor, params, body }) => split.export(actor, params.id, body.format)),
      handle(splitProviders.list, ({ actor }) => split.providers(actor)),
      handle(splitProviders.get, ({ params }) => split.provider(params.id)),
      handle(splitProviders.bind, ({ params, body }) => split.bind(params.id, body.user_id)),
      handle(splitProviders.unbind, ({ params }) => split.unbind(params.id, params.user_id)),
      handle(splitFigures.mine, ({ actor, query }) => split.mine(actor, query.days)),
      handle(splitFigures.lines, ({ actor, query }) => split.figureLines(actor, query)),
      handle(splitFigures.get, ({ query }) => split.figures(query.days, query.provider_id, query.model)),
    ],
    jobs: split.jobs,
    jobHandlers: split.jobHandlers,
  }
}
