import pino from 'pino'
import { openDatabase } from '../../../platform/db/database.ts'
import { createSecrets } from '../../../platform/secrets.ts'
import { createBanks } from '../bank/bank.service.ts'
import { createPayoutChannels } from './channel.service.ts'
import { createPayouts } from './payout.service.ts'

/**
 * A process of its own that sends payouts and asks about them, for `payout.faults.ts`: once for each message, which says by how
 * many milliseconds its clock is ahead.
 */
const log = pino({ level: 'silent' })
const { db, close } = openDatabase(process.env['DATABASE_URL'] ?? '', { poolSize: 1, log })
let ahead = 0
const now = (): Date => new Date(Date.now() + ahead)
const secrets = createSecrets(Buffer.alloc(32, 7))
const nobody = async (): Promise<void> => undefined
// Nothing but the platform's name is asked of settings here.
const settings = { get: async () => '智算云' as never, since: async () => [] }
const banks = createBanks({ db, secrets, now }, { settings, prove: nobody, tellProvider: nobody, tellKeepers: nobody })
const channels = createPayoutChannels({ db, secrets, now, config: { ZHISUAN_ENV: 'test' } }, { prove: nobody, tellKeepers: nobody })
const payouts = createPayouts({ db, log, now, jobs: { send: nobody } }, { banks, channels, settings, prove: nobody, tellProvider: nobody, tellKeepers: nobody })

process.on('message', (wish: { ahead: number }) => {
  ;({ ahead } = wish)
  void payouts.run().then(
    () => process.send?.({ failed: null }),
    (error: unknown) => process.send?.({ failed: String(error) }),
  )
})
process.on('disconnect', () => void close())
process.send?.({ failed: null })
