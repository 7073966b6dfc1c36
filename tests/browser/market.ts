import type { Logger } from 'pino'
import { users } from '@zhisuan/contract/ums/user'
import { toMinor } from '@zhisuan/contract/bill/money'
import { join } from 'node:path'
import { sql } from 'kysely'
import { ledger } from '../../apps/server/src/modules/bill/ledger/ledger.service.ts'
import { openDatabase, type Db } from '../../apps/server/src/platform/db/database.ts'
import { embeddedUrl } from '../../apps/server/src/platform/db/embedded.ts'
import { uuidv7 } from '../../apps/server/src/platform/ids.ts'
import { temporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer } from '../support/server.ts'
import { newName, register, someAddress } from './people.ts'
import { begin, type Account } from './stage.ts'

const silent = { error: () => undefined, warn: () => undefined } as unknown as Logger

export interface Member {
  readonly account: Account
  readonly client: Client
  readonly organisation: string
  readonly bpId: string
}

/** A platform of its own: prices, policies and debts of it are nobody else's. */
export async function startMarket(name: string) {
  const data = temporaryFolder(name)
  const server = await startServer(begin(join(data.path, 'server')), { LOCAL_CLOUD: 'sandbox', TRUST_PROXY: '1' })
  const admin = await asAdministrator(server)
  const onDatabase = async (work: (db: Db) => Promise<unknown>): Promise<void> => {
    const { db, close } = openDatabase(embeddedUrl(join(data.path, 'server', 'database'), 'zhisuan'), { poolSize: 1, log: silent })
    try {
      await work(db)
    } finally {
      await close()
    }
  }
  return {
    url: server.url,
    admin,
    /** Somebody with an organisation of their own. */
    async member(): Promise<Member> {
      const organisation = newName('org')
      const account = await register(server.url, newName('member'), organisation)
      const client = new Client(server.url, someAddress())
      await client.signIn(account.username, account.password)
      return { account, client, organisation, bpId: (await client.call(users.current)).bp_id ?? '' }
    },
    /** As if so much had been used: usage is rated when its hour is over, which no test waits for. */
    async uses(bpId: string, amount: string): Promise<void> {
      await onDatabase((db) => db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: bpId, amount: toMinor(amount), key: uuidv7() })))
    },
    /** As if that had been of one product, this month. */
    async usesProduct(bpId: string, productId: string, amount: string): Promise<void> {
      await onDatabase((db) =>
        sql`insert into usage_sums (bp_id, month, dimension, key, amount) values (${bpId}, date_trunc('month', now())::date, 'product', ${productId}, ${String(toMinor(amount))})`.execute(
          db,
        ),
      )
    },
    async stop(): Promise<void> {
      await server.stop()
      data.remove()
    },
  }
}
export type Market = Awaited<ReturnType<typeof startMarket>>
