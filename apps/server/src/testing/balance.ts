import { arrearsPolicies } from '@zhisuan/contract/bill/arrears'
import type { TestApp } from './app.ts'
import { call } from './call.ts'
import type { SignedIn } from './people.ts'

const decisions = {
  low_balance: '0',
  grace_hours: 72,
  warning_hours: 24,
  suspends: true,
  stop_vms: true,
  stop_containers: true,
  refuse_new: true,
  resume: true,
}

/** From now on an organisation has to have so much to make what costs something by the hour. */
export const leastBalance = (app: TestApp, admin: SignedIn, bpId: string | null, least_balance: string) =>
  call(app, arrearsPolicies.setException, { token: admin.token, params: { id: bpId ?? '' }, body: { ...decisions, least_balance } })
