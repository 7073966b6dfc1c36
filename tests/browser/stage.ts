import { execFileSync } from 'node:child_process'

/** Who and what a worker's server has; handed from the global setup to the tests. */
export interface Stage {
  readonly url: string
  /** For what takes hours elsewhere. */
  readonly databaseUrl: string
  /** The sandbox cloud. */
  readonly cloudId: string
  /** A person registered alone: kind 3, TENANT. */
  readonly tenant: Account
  /** One with an organisation: kind 2, TENANT_ADMIN. */
  readonly tenantAdmin: Account
  /** A running instance of the tenant's. */
  readonly vmId: string
}

export interface Account {
  readonly username: string
  readonly password: string
  readonly phone: string
}

/** The password of everybody here but the administrator. */
export const password = 'Browser-test-1'

const key = (worker: number | string): string => `ZHISUAN_BROWSER_STAGE_${worker}`
export const keepStage = (worker: number, stage: Stage): void => void (process.env[key(worker)] = JSON.stringify(stage))
/** That of the worker which asks. */
export const stage = (): Stage => JSON.parse(process.env[key(process.env['TEST_PARALLEL_INDEX'] ?? '')] ?? '') as Stage

const begun = 'ZHISUAN_BROWSER_BEGUN'
/** Where the data of a platform lie that was started once, with the administrator's password set and no cloud. */
export const keepBegun = (path: string): void => void (process.env[begun] = path)

/** A data directory that is begun already: to make a database and its schema takes a server longer than all else at its start. */
export function begin(path: string): string {
  // As it is, with its owners: PostgreSQL believes nobody else's files.
  execFileSync('cp', ['-a', process.env[begun] ?? '', path])
  return path
}
