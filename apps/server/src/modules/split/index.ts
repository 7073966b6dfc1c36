import { splitBankDetails } from '@zhisuan/contract/split/bank'
import { splitContracts, splitRuns } from '@zhisuan/contract/split/contract'
import { splitFigures, splitProviders } from '@zhisuan/contract/split/provider'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import { createBanks, type Prove } from './bank/bank.service.ts'
import { bankMigrations } from './bank/bank.store.ts'
import { movementMigrations } from './ledger/movements.ts'
import { createProviderTelling, type SplitMail } from './provider.tell.ts'
import { createSplit } from './split.service.ts'
import { splitMigrations } from './split.store.ts'

/** The split centre. */
export function createSplitModule(platform: Platform, parts: { tell: Tell; mail: SplitMail; settings: Pick<Settings, 'get'>; prove: Prove }): ModuleParts {
  const split = createSplit(platform, parts)
  const telling = createProviderTelling(platform, parts)
  const banks = createBanks(platform, { ...parts, ...telling })
  return {
    migrations: { ...splitMigrations, ...bankMigrations, ...movementMigrations },
    kinds: {
      'split.contract': { table: 'split_contracts' },
      'split.run': { table: 'split_runs', name: 'period' },
      'split.provider': { table: 'market_providers' },
      'split.bankDetail': { table: 'split_bank_details', name: 'bank' },
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
      handle(splitFigures.get, ({ query }) => split.figures(query.days, query.provider_id, query.model)),
      handle(splitBankDetails.list, ({ actor, params }) => banks.list(actor, params.id)),
      handle(splitBankDetails.create, ({ actor, params, body }) => banks.create(actor, params.id, body)),
      handle(splitBankDetails.approve, ({ actor, params, body }) => banks.approve(actor, params.id, body.password)),
      handle(splitBankDetails.withdraw, ({ actor, params }) => banks.withdraw(actor, params.id)),
    ],
    jobs: [...split.jobs, telling.job],
    jobHandlers: [...split.jobHandlers, telling.jobHandler],
  }
}
