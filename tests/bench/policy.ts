import { calls } from '@zhisuan/contract/calls'
import { policyLanguage, type PolicyStatement } from '@zhisuan/contract/policy/document'
import { compilePolicies, decide, type AccessRequest } from '@zhisuan/contract/policy/evaluate'
import { resourceName } from '@zhisuan/contract/policy/resource'
import { decideCall } from '../../apps/server/src/platform/auth/rules.ts'
import type { Figure } from './main.ts'

/** What a tenant with ten policies and a boundary asks for, again and again, on one core. */
export async function benchPolicy(): Promise<Figure[]> {
  const actions = Object.values(calls.nextstack).flatMap((resource) => Object.values(resource).map(({ id }) => id))
  const policy = (index: number, ...Statement: PolicyStatement[]) => ({ id: String(index), document: { Version: policyLanguage, Statement } as const })
  const mine = compilePolicies(
    Array.from({ length: 10 }, (_, index) =>
      policy(
        index,
        { Effect: 'Allow', Action: actions.filter((_action, at) => at % 10 === index), Resource: 'zrn:nextstack:${zs:OrganisationId}:*' },
        {
          Effect: 'Deny',
          Action: ['nextstack.*.delete', 'nextstack.vm.resize'],
          Resource: 'zrn:nextstack:*:vm/prod-*',
          Condition: { Bool: { 'zs:MfaPresent': 'false' } },
        },
      ),
    ),
  )
  const boundary = compilePolicies([
    policy(0, { Effect: 'Allow', Action: 'nextstack.*', Resource: '*', Condition: { IpAddress: { 'zs:SourceIp': ['10.0.0.0/8', '2001:db8::/32'] } } }),
  ])
  const requests = Array.from({ length: 1000 }, (_, index): AccessRequest => ({
    action: actions[index % actions.length] ?? '',
    resource: resourceName('nextstack', 'vm', 'organisation', `${index % 3 === 0 ? 'prod-' : ''}${index}`),
    context: {
      'zs:OrganisationId': 'organisation',
      'zs:UserName': 'li',
      'zs:SourceIp': '10.1.2.3',
      'zs:MfaPresent': 'true',
      'zs:CurrentTime': new Date().toISOString(),
    },
  }))
  let allowed = 0
  const round = (): void => {
    for (const request of requests) if (decide(mine, [boundary], request).outcome === 'allowed') allowed++
  }
  for (let warm = 0; warm < 20; warm++) round()
  // Of processor time, as others may be at work.
  const [started, rounds] = [process.cpuUsage(), 300]
  for (let done = 0; done < rounds; done++) round()
  const { user, system } = process.cpuUsage(started)
  const seconds = (user + system) / 1e6
  if (allowed !== requests.length * (rounds + 20)) throw new Error('not all were allowed')
  const perSecond = (requests.length * rounds) / seconds
  const call = calls.nextstack.vms.get
  const asking = { rules: { policies: mine, boundaries: [boundary] }, bp_id: 'organisation' }
  const { context } = requests[0] ?? { context: {} }
  const noTags = async () => ({})
  const asked = process.cpuUsage()
  for (let done = 0; done < 100_000; done++) await decideCall(asking, call, { params: { id: `${done}` } }, { ...context }, noTags)
  const spent = process.cpuUsage(asked)
  const overheadMs = (spent.user + spent.system) / 1000 / 100_000
  return [
    { name: 'what policies add to a request', ours: `${overheadMs.toFixed(4)} ms`, floor: '0.1 ms', value: overheadMs, bar: '≤ 0.1', met: overheadMs <= 0.1 },
    {
      name: 'decisions by policies, in a second of one core',
      ours: `${Math.round(perSecond).toLocaleString('en')}/s`,
      floor: '200,000/s',
      value: perSecond / 200_000,
      bar: '≥ 1',
      met: perSecond >= 200_000,
    },
  ]
}
