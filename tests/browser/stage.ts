/** Who and what a worker's server has; handed from the global setup to the tests. */
export interface Stage {
  readonly url: string
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
