import { toMinor } from '@zhisuan/contract/bill/money'
import type { Db } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/ids.ts'
import { ledger } from './ledger/ledger.service.ts'
import { createMetering } from './metering/metering.service.ts'
import { createRating } from './rating/rating.service.ts'

/** Charges an owner for usage, as rating does: what nothing pays stays in arrears. */
export const chargeUsage = (db: Db, ownerId: string, yuan: string): Promise<string> =>
  db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: ownerId, amount: toMinor(yuan), key: uuidv7() }))

/** Brings bills up to what was told of usage, without waiting for the next minute. */
export const settleUsage = (db: Db): Promise<void> => createMetering({ db }).settle()

/** Rates what was used until then, as the clock does each hour. */
export const rateUsage = (db: Db, until: Date): Promise<void> => createRating({ db, now: () => until, metering: createMetering({ db }) }).run()
