import { accounts, type LedgerEntry, type Wallet } from '@zhisuan/contract/bill/account'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { readOn } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { fileDay, offerExport } from '../../../platform/exports.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { balanceOf, ledger, shapeWallet } from '../ledger/ledger.service.ts'
import { standings } from '../ledger/ledger.store.ts'
import { recordCharge } from '../topup/topup.store.ts'
import { insertAccount, listAccounts, listEntries, nameOfOwner, oldestEntries, type EntryFilters } from './account.store.ts'
import { accountTexts as texts } from './account.texts.ts'

type Calls = typeof accounts

const entriesAtOnce = 1_000

export type AccountService = ReturnType<typeof createAccountService>

export const createAccountService = ({ db, now, downloads }: Pick<Platform, 'db' | 'now' | 'downloads'>) => {
  /**
   * Tenants have the account of their organisation, the platform's own people one each, opened
   * when they first look; administrators see every account there is.
   * @throws Refusal notFound for what is another's as for what is nobody's
   */
  const visible = async (actor: Actor, id: string): Promise<void> => {
    if (!isPlatformKind(actor.kind) && id !== actor.bp_id) throw new Refusal('notFound')
    if (id === actor.user_id) await insertAccount(db, id)
  }
  const walletOf = async (on: Sql, id: string): Promise<Wallet> => shapeWallet(id, found(await nameOfOwner(on, id)).name, await ledger.standing(on, id))

  const linkToEntries = offerExport<LedgerEntry, EntryFilters & { owner_id: string; name: string }>(downloads, {
    kind: 'ledger-entries',
    wish: accounts.exportEntries.body.omit({ format: true }).extend({ owner_id: z.uuid(), name: z.string() }),
    name: ({ name }) => [texts.file, name, fileDay(now())].join('-'),
    columns: [
      { title: texts.at, cell: ({ at }) => ({ moment: new Date(at) }) },
      { title: texts.kind, cell: ({ kind }) => texts.kinds[kind] },
      { title: texts.account, cell: ({ account }) => texts.accounts[account] },
      { title: texts.amount, cell: ({ amount }) => ({ amount }) },
      { title: texts.after, cell: ({ balance_after }) => ({ amount: balance_after }) },
      { title: texts.note, cell: ({ note }) => note },
      { title: texts.by, cell: ({ by }) => by || texts.platform },
      { title: texts.movement, cell: ({ transaction_id }) => transaction_id },
    ],
    rows: (scope, { owner_id, ...filters }) => readOn((last) => oldestEntries(db, scope, owner_id, filters, last?.id ?? 0, entriesAtOnce)),
  })

  return {
    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      await visible(actor, id)
      return { id, balance: toDecimal(balanceOf(await ledger.standing(db, id))) }
    },

    async wallet(actor: Actor, id: string): Promise<Wallet> {
      await visible(actor, id)
      return walletOf(db, id)
    },

    async list(query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const { total, rows } = await listAccounts(db, query)
      const known = await standings(
        db,
        rows.map(({ owner_id }) => owner_id),
      )
      return { total, items: rows.map((row) => ({ ...shapeWallet(row.owner_id, row.name, found(known.get(row.owner_id))), created_at: iso(row.created_at) })) }
    },

    async entries(actor: Actor, id: string, query: QueryOf<Calls['entries']>): Promise<ResponseOf<Calls['entries']>> {
      await visible(actor, id)
      // An account of nobody is none, rather than one without entries.
      found(await nameOfOwner(db, id))
      return listEntries(db, scopeOf(actor), id, query)
    },

    /** @throws Refusal 404 */
    async exportEntries(actor: Actor, id: string, { format, ...filters }: BodyOf<Calls['exportEntries']>): Promise<ExportLink> {
      await visible(actor, id)
      const { name } = found(await nameOfOwner(db, id))
      return linkToEntries(actor, scopeOf(actor), format, { owner_id: id, name, ...filters })
    },

    /** @throws Refusal 24014, 404, 96010 */
    async charge(actor: Actor, id: string, body: BodyOf<Calls['charge']>): Promise<Wallet> {
      const amount = toMinor(body.amount)
      if (amount < 0n) throw new Refusal('chargeNegative', { field: 'amount' })
      await visible(actor, id)
      return db.transaction().execute(async (tx) => {
        const transaction_id = await ledger.topUp(tx, {
          owner_id: id,
          amount,
          key: body.key ?? uuidv7(),
          note: body.note,
          by: { id: actor.user_id, name: actor.name },
        })
        await recordCharge(tx, { owner_id: id, amount, note: body.note, by: actor, transaction_id, at: now() })
        return walletOf(tx, id)
      })
    },

    /** @throws Refusal 24011, 404, 96010, 96012 */
    async adjust(actor: Actor, id: string, { amount, note, key = uuidv7() }: BodyOf<Calls['adjust']>): Promise<Wallet> {
      await visible(actor, id)
      return db.transaction().execute(async (tx) => {
        await ledger.adjust(tx, { owner_id: id, amount: toMinor(amount), key, note, by: { id: actor.user_id, name: actor.name } })
        return walletOf(tx, id)
      })
    },

    /** @throws Refusal 404, 96009 */
    async setCreditLimit(actor: Actor, id: string, body: BodyOf<Calls['setCreditLimit']>): Promise<Wallet> {
      await visible(actor, id)
      return db.transaction().execute(async (tx) => {
        await ledger.setCreditLimit(tx, id, toMinor(body.credit_limit), { id: actor.user_id, name: actor.name })
        return walletOf(tx, id)
      })
    },
  }
}
