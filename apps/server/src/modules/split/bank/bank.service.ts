import { bankCan, type BankDetail, type BankStatus, type splitBankDetails } from '@zhisuan/contract/split/bank'
import type { BodyOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import type { TellKeepers } from '../keeper.tell.ts'
import type { TellProvider } from '../provider.tell.ts'
import { scopeFor, sees } from '../scope.ts'
import { getProvider } from '../split.store.ts'
import * as store from './bank.store.ts'
import type { BankRow } from './bank.store.ts'
import { bankTexts as texts } from './bank.texts.ts'

/** What the channel is told, and nobody else. */
export interface BankAccount {
  readonly holder: string
  readonly bank: string
  readonly account: string
}

/** Asks whoever makes a dangerous change to prove that it is they. */
export type Prove = (actor: Actor, password: string | undefined) => Promise<void>

const placeOf = (id: string): string => `split_bank_details.sealed:${id}`

export type BankService = ReturnType<typeof createBanks>

/** Where the money of providers goes. What is said first counts after a while, so that whoever is paid hears of it before. */
export function createBanks(
  { db, secrets, now }: Pick<Platform, 'db' | 'secrets' | 'now'>,
  { settings, prove, tellProvider, tellKeepers }: { settings: Pick<Settings, 'get'>; prove: Prove; tellProvider: TellProvider; tellKeepers: TellKeepers },
) {
  const statusOf = (row: BankRow, current: string | undefined): BankStatus => {
    if (row.withdrawn_at !== null) return 'withdrawn'
    if (row.id === current) return 'current'
    return row.approved_by === null && row.counts_from > now() ? 'waiting' : 'past'
  }
  const shape = (row: BankRow, current: string | undefined): BankDetail => ({
    id: row.id,
    status: statusOf(row, current),
    holder: row.holder,
    bank: row.bank,
    account: row.account,
    counts_from: iso(row.counts_from),
    set_by: row.set_by_name,
    approved_by: row.approved_by_name,
    created_at: iso(row.created_at),
  })
  const show = async (on: Sql, row: BankRow): Promise<BankDetail> => shape(row, (await store.currentBank(on, row.provider_id, now()))?.id)
  const told = (tx: Tx, row: BankRow, text: (name: string, account: string) => string) =>
    tellProvider(tx, row.provider_id, {
      kind: 'split.bank',
      text: (name) => text(name, `${row.bank} ${row.account}`),
      about: (name) => ({ kind: 'split.bankDetail', id: row.id, name }),
    })

  return {
    async list(actor: Actor, providerId: string): Promise<{ total: number; items: BankDetail[] }> {
      const scope = await scopeFor(db, actor)
      if (!sees(scope, providerId)) throw new Refusal('notFound')
      found(await getProvider(db, providerId))
      const rows = await store.listBanks(db, scope, providerId)
      const current = (await store.currentBank(db, providerId, now()))?.id
      return { total: rows.length, items: rows.map((row) => shape(row, current)) }
    },

    /** @throws Refusal 404, 1120, 26018, 91125 */
    async create(actor: Actor, providerId: string, { password, ...said }: BodyOf<(typeof splitBankDetails)['create']>): Promise<BankDetail> {
      if (!sees(await scopeFor(db, actor), providerId)) throw new Refusal('notFound')
      const provider = found(await getProvider(db, providerId))
      if (provider.status === 'disabled') throw new Refusal('providerDisabled')
      await prove(actor, password)
      const id = uuidv7()
      const at = now()
      const row: BankRow = {
        id,
        provider_id: providerId,
        sealed: secrets.seal(JSON.stringify(said satisfies BankAccount), placeOf(id)),
        holder: `${[...said.holder][0] ?? ''}**`,
        bank: said.bank,
        account: `**** ${said.account.slice(-4)}`,
        counts_from: new Date(at.getTime() + Number(await settings.get('split_bank_hours')) * 3_600_000),
        set_by: actor.user_id,
        set_by_name: actor.name,
        approved_by: null,
        approved_by_name: null,
        withdrawn_at: null,
        created_at: at,
      }
      await db.transaction().execute(async (tx) => {
        await store.insertBank(tx, row)
        await told(tx, row, texts.changed)
        // Also where the provider has nobody who hears of it.
        const about = { kind: 'split.bankDetail' as const, id, name: provider.name }
        await tellKeepers(tx, { kind: 'split.bank', text: texts.changed(provider.name, `${row.bank} ${row.account}`), about }, actor.user_id)
      })
      return show(db, row)
    },

    /** @throws Refusal 404, 1120, 90010, 91125, 98209 */
    async approve(actor: Actor, id: string, password: string | undefined): Promise<BankDetail> {
      await prove(actor, password)
      return db.transaction().execute(async (tx) => {
        const row = found(await store.lockBank(tx, await scopeFor(tx, actor), id))
        refuseUnless(bankCan.approve, await show(tx, row))
        if (row.set_by === actor.user_id) throw new Refusal('splitOwnApproval')
        await store.updateBank(tx, id, { approved_by: actor.user_id, approved_by_name: actor.name })
        await told(tx, row, texts.approved)
        return show(tx, { ...row, approved_by: actor.user_id, approved_by_name: actor.name })
      })
    },

    /** @throws Refusal 404, 90010 */
    withdraw: (actor: Actor, id: string): Promise<BankDetail> =>
      db.transaction().execute(async (tx) => {
        const row = found(await store.lockBank(tx, await scopeFor(tx, actor), id))
        refuseUnless(bankCan.withdraw, await show(tx, row))
        const withdrawn_at = now()
        await store.updateBank(tx, id, { withdrawn_at })
        await told(tx, row, texts.withdrawn)
        return show(tx, { ...row, withdrawn_at })
      }),

    /** For the channel of payouts: what was sealed. */
    open: ({ id, sealed }: Pick<BankRow, 'id' | 'sealed'>): BankAccount => JSON.parse(secrets.open(sealed, placeOf(id))) as BankAccount,
  }
}
