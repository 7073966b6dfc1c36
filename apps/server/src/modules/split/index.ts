import { splitBankDetails } from '@zhisuan/contract/split/bank'
import { splitContracts, splitRuns } from '@zhisuan/contract/split/contract'
import { splitChannel, splitPayouts } from '@zhisuan/contract/split/payout'
import { splitCases, splitReconciliations } from '@zhisuan/contract/split/reconciliation'
import { splitFigures, splitProviders } from '@zhisuan/contract/split/provider'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import { createBanks, type Prove } from './bank/bank.service.ts'
import { bankMigrations } from './bank/bank.store.ts'
import { movementMigrations } from './ledger/movements.ts'
import { createPayoutChannels } from './payout/channel.service.ts'
import { servePayoutChannel } from './payout/payout.routes.ts'
import { createPayouts } from './payout/payout.service.ts'
import { payoutMigrations } from './payout/payout.store.ts'
import { createReconciliations } from './reconciliation/reconciliation.service.ts'
import { reconciliationMigrations } from './reconciliation/reconciliation.store.ts'
import { createKeeperTelling } from './keeper.tell.ts'
import { createProviderTelling, type SplitMail } from './provider.tell.ts'
import { createSplit } from './split.service.ts'
import { splitMigrations } from './split.store.ts'

/** The split centre. */
export function createSplitModule(
  platform: Platform,
  parts: { tell: Tell; mail: SplitMail; settings: Pick<Settings, 'get' | 'since'>; prove: Prove },
): ModuleParts {
  const split = createSplit(platform, parts)
  const telling = createProviderTelling(platform, parts)
  const tellKeepers = createKeeperTelling(parts.tell)
  const banks = createBanks(platform, { ...parts, ...telling, tellKeepers })
  const channels = createPayoutChannels(platform, { ...parts, tellKeepers })
  const payouts = createPayouts(platform, { ...parts, ...telling, banks, channels, tellKeepers })
  const reconciliations = createReconciliations(platform, { ...parts, channels, payouts, tellKeepers })
  return {
    migrations: { ...splitMigrations, ...bankMigrations, ...movementMigrations, ...payoutMigrations, ...reconciliationMigrations },
    kinds: {
      'split.contract': { table: 'split_contracts' },
      'split.run': { table: 'split_runs', name: 'period', seen: split.seen },
      'split.provider': { table: 'market_providers' },
      'split.bankDetail': { table: 'split_bank_details', name: 'bank' },
      'split.channel': { table: 'split_waiting_channel', name: 'merchant_id' },
      'split.payout': { table: 'split_payouts', name: 'id', seen: payouts.seen },
      'split.case': { table: 'split_cases', name: 'day' },
      'split.reconciliation': { table: 'split_reconciliations', name: 'day' },
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
      handle(splitRuns.pay, ({ actor, params, body }) => split.pay(actor, params.id, body)),
      handle(splitRuns.export, ({ actor, params, body }) => split.export(actor, params.id, body.format)),
      handle(splitProviders.list, ({ actor }) => split.providers(actor)),
      handle(splitProviders.get, ({ params }) => split.provider(params.id)),
      handle(splitProviders.bind, ({ params, body }) => split.bind(params.id, body.user_id)),
      handle(splitProviders.unbind, ({ params }) => split.unbind(params.id, params.user_id)),
      handle(splitFigures.mine, ({ actor, query }) => split.mine(actor, query.days)),
      handle(splitFigures.lines, ({ actor, query }) => split.figureLines(actor, query)),
      handle(splitFigures.get, ({ query }) => split.figures(query.days, query.provider_id, query.model)),
      handle(splitBankDetails.list, ({ actor, params }) => banks.list(actor, params.id)),
      handle(splitBankDetails.create, ({ actor, params, body }) => banks.create(actor, params.id, body)),
      handle(splitBankDetails.approve, ({ actor, params, body }) => banks.approve(actor, params.id, body.password)),
      handle(splitBankDetails.withdraw, ({ actor, params }) => banks.withdraw(actor, params.id)),
      handle(splitPayouts.balance, ({ actor, params }) => payouts.balance(actor, params.id)),
      handle(splitPayouts.list, ({ actor, query }) => payouts.list(actor, query)),
      handle(splitPayouts.get, ({ actor, params }) => payouts.get(actor, params.id)),
      handle(splitPayouts.create, ({ actor, body }) => payouts.create(actor, body)),
      handle(splitPayouts.approve, ({ actor, params, body }) => payouts.approve(actor, params.id, body.password)),
      handle(splitPayouts.withdraw, ({ actor, params }) => payouts.withdraw(actor, params.id)),
      handle(splitPayouts.query, ({ actor, params }) => payouts.query(actor, params.id)),
      handle(splitChannel.get, () => channels.state()),
      handle(splitChannel.set, ({ actor, body }) => channels.set(actor, body)),
      handle(splitChannel.approve, ({ actor, params, body }) => channels.approve(actor, params.id, body.password)),
      handle(splitChannel.withdraw, ({ params }) => channels.withdraw(params.id)),
      handle(splitReconciliations.list, ({ query }) => reconciliations.days(query)),
      handle(splitReconciliations.create, ({ body }) => reconciliations.again(body)),
      handle(splitCases.list, ({ query }) => reconciliations.list(query)),
      handle(splitCases.propose, ({ actor, params, body }) => reconciliations.propose(actor, params.id, body)),
      handle(splitCases.decide, ({ actor, params, body }) => reconciliations.decide(actor, params.id, body)),
      handle(splitCases.ask, ({ params }) => reconciliations.ask(params.id)),
    ],
    jobs: [...split.jobs, telling.job, payouts.job, reconciliations.job],
    jobHandlers: [...split.jobHandlers, telling.jobHandler, payouts.jobHandler, reconciliations.jobHandler],
    serve: (http) => servePayoutChannel(http, payouts),
  }
}
