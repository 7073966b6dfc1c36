import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import { createRules } from '../modules/iam/rules/rules.ts'
import { createActors } from '../modules/ums/session/actors.ts'
import { createSessionService } from '../modules/ums/session/session.service.ts'
import { resetPassword, type ResetPassword } from '../modules/ums/user/password-reset.ts'
import { openBus } from '../platform/bus.ts'
import { ConfigError, readConfig, type Config } from '../platform/config.ts'
import { openDatabase } from '../platform/db/database.ts'
import { DatabaseUnusable, embeddedUrl } from '../platform/db/embedded.ts'
import { createLog } from '../platform/log.ts'
import { withEmbedded } from './database.ts'
import { assertOwned, Failure, onlyArgument, readArguments, runCommand } from './command.ts'

const usage = `usage: scripts/reset-password USERNAME
  gives the user (by name, phone or email) a one-time password, which has to be changed at the first sign-in,
  and ends all of their sessions, whether the server runs or not;
  the environment has to be the server's (DATA_DIR, DATABASE_URL)`

async function reset(config: Config, login: string): Promise<ResetPassword | null> {
  if (config.DATABASE_URL !== undefined) return resetIn(config.DATABASE_URL, login)
  if (!existsSync(config.DATA_DIR)) throw new Failure(`The data directory ${config.DATA_DIR} does not exist.`)
  assertOwned(config.DATA_DIR)
  return withEmbedded(config.DATA_DIR, (folder) => resetIn(embeddedUrl(folder, 'zhisuan'), login))
}

/** As the server does it, so that running ones forget at once whom their tokens stand for. */
async function resetIn(url: string, login: string): Promise<ResetPassword | null> {
  const log = createLog({ LOG_LEVEL: 'silent' })
  const { db, close } = openDatabase(url, { poolSize: 1, log })
  try {
    const { rows } = await sql<{ there: boolean }>`select to_regclass('users') is not null as there`.execute(db).catch((error: Error) => {
      throw new Failure(`The database does not answer: ${error.message}`, { cause: error })
    })
    if (rows[0]?.there !== true) throw new Failure('The database holds no users yet: the first start of the server makes the administrator.')
    const bus = await openBus(url, log)
    try {
      const now = () => new Date()
      const nobody = () => Promise.reject(new Error('nobody signs in here'))
      const sessions = createSessionService(
        { db, now },
        {
          actors: createActors({ db, bus, now }, createRules({ db, bus })),
          guesses: { check: nobody, checkUnknown: nobody, signedIn: nobody },
          secondFactors: { prove: () => async () => null, has: async () => false },
        },
      )
      return await resetPassword(db, sessions, login)
    } finally {
      await bus.close()
    }
  } finally {
    await close()
  }
}

await runCommand(usage, async () => {
  const { values, positionals } = readArguments({ args: process.argv.slice(2), options: { help: { type: 'boolean', short: 'h' } }, allowPositionals: true })
  if (values.help === true) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const login = onlyArgument(positionals, 'USERNAME')
  const done = await reset(readConfig(process.env), login)
  if (done === null) throw new Failure(`Nobody signs in as ${login}.`)
  const { password, user, sessions } = done
  process.stderr.write(`One-time password of ${user.name ?? login}, to be changed at the first sign-in. Sessions ended: ${sessions}.\n`)
  if (user.status !== 'active') process.stderr.write(`The user is ${user.status}, and cannot sign in before an administrator changes that.\n`)
  process.stdout.write(`${password}\n`)
}, [ConfigError, DatabaseUnusable])
