import fc from 'fast-check'
import { expect, it } from 'vitest'
import { conditionOperators, policyDocument, policyLanguage, type PolicyDocument } from './document.ts'
import { compilePolicies, decide } from './evaluate.ts'
import { referenceOutcome } from './reference.ts'

const oneOrMore = <T>(item: fc.Arbitrary<T>) => fc.oneof(item, fc.array(item, { minLength: 1, maxLength: 3 }))

// Few names, so that statements and requests often meet.
const actions = ['nextstack.vm.start', 'nextstack.vm.stop', 'nextstack.vm.list', 'nextstack.volume.delete', 'ums.user.delete', 'ecrm.edge.get'] as const
const actionPattern = fc.constantFrom(
  ...actions,
  '*',
  'nextstack.*',
  '*.delete',
  'nextstack.vm.sto?',
  'nextstack.vm.st*',
  'n*.v*.l*',
  '?ms.user.*',
  'nextstack.vm.START',
)
const people = ['li', 'LI', 'wang', '', 'a*', '?', '10.0.0.1', '王'] as const
const organisation = fc.constantFrom('one', 'two', 'platform')
const resource = fc
  .tuple(
    fc.constantFrom('nextstack', 'ums', 'ecrm'),
    organisation,
    fc.constantFrom('vm', 'volume', 'user'),
    fc.constantFrom('1', '2', 'li', 'a*', 'ab', '*', '王'),
  )
  .map(([service, owner, type, id]) => `zrn:${service}:${owner}:${type}/${id}`)
const resourcePattern = fc.oneof(
  resource,
  fc.constantFrom(
    '*',
    'zrn:nextstack:*:vm/*',
    'zrn:*:one:*',
    'zrn:*:${zs:OrganisationId}:*',
    'zrn:nextstack:*:vm/${zs:UserName}',
    'zrn:*:*:*/${zs:UserName}*',
    'zrn:?ms:*:*',
    'zrn:*:*:vm/${*}',
    'zrn:*:*:vm/a${*}',
    'zrn:*:*:*/${zs:ResourceTag/owner}',
    'zrn:nextstack:o*e:*/?',
    'zrn:*:*:volume/${zs:Unknown}',
  ),
)

const addresses = ['10.0.0.1', '10.1.2.3', '192.168.1.9', '2001:db8::1', '2001:db8:0:1::5', 'nonsense', ''] as const
const ranges = ['10.0.0.0/8', '10.1.0.0/16', '10.0.0.1', '0.0.0.0/0', '192.168.1.8/29', '2001:db8::/32', '2001:db8::1', '::/0'] as const
const moments = ['2026-11-21T08:00:00Z', '2026-11-21T16:00:00+08:00', '2026-11-20', '2027-01-01T00:00:00Z', '1795248000'] as const
const numbers = ['0', '1', '3600', '-2.5', '1e3', '1000', 'x', ''] as const
const texts = [...people, 'l*', '*', 'w?ng', '${zs:UserName}', '${zs:OrganisationId}', '${*}', '${zs:Unknown}'] as const

const tags = ['zs:ResourceTag/owner', 'zs:ResourceTag/team'] as const
const valuesOf = (operator: string) =>
  operator.startsWith('String')
    ? { keys: fc.constantFrom('zs:UserName', 'zs:OrganisationId', 'zs:Missing', ...tags), wish: fc.constantFrom<string | number | boolean>(...texts) }
    : operator.startsWith('Numeric')
      ? {
          keys: fc.constantFrom('zs:MfaAge', 'zs:Missing', 'zs:UserName'),
          wish: fc.constantFrom<string | number | boolean>('0', '1', 3600, '-2.5', '1e3', 1000),
        }
      : operator.startsWith('Date')
        ? { keys: fc.constantFrom('zs:CurrentTime', 'zs:Missing', 'zs:UserName'), wish: fc.constantFrom<string | number | boolean>(...moments) }
        : operator === 'Bool' || operator === 'Null'
          ? {
              keys: fc.constantFrom('zs:MfaPresent', 'zs:Missing', 'zs:UserName'),
              wish: fc.constantFrom<string | number | boolean>('true', 'false', true, false),
            }
          : { keys: fc.constantFrom('zs:SourceIp', 'zs:Missing', 'zs:UserName'), wish: fc.constantFrom<string | number | boolean>(...ranges) }

const condition = fc
  .tuple(fc.constantFrom(...conditionOperators), fc.constantFrom('', 'ForAnyValue:', 'ForAllValues:'), fc.boolean())
  .chain(([operator, set, ifExists]) => {
    const { keys, wish } = valuesOf(operator)
    const name = operator === 'Null' ? operator : `${set}${operator}${ifExists ? 'IfExists' : ''}`
    return fc.dictionary(keys, oneOrMore(wish), { minKeys: 1, maxKeys: 2, noNullPrototype: true }).map((wishes) => [name, wishes] as const)
  })

const statement = fc
  .record({
    Effect: fc.constantFrom('Allow', 'Allow', 'Deny'),
    action: fc.tuple(fc.constantFrom('Action', 'Action', 'NotAction'), oneOrMore(actionPattern)),
    resource: fc.tuple(fc.constantFrom('Resource', 'Resource', 'NotResource'), oneOrMore(resourcePattern)),
    conditions: fc.array(condition, { maxLength: 2 }),
  })
  .map(({ Effect, action, resource, conditions }) => ({
    Effect,
    [action[0]]: action[1],
    [resource[0]]: resource[1],
    ...(conditions.length > 0 && { Condition: Object.fromEntries(conditions) }),
  }))
const document = fc.array(statement, { minLength: 1, maxLength: 4 }).map((Statement) => ({ Version: policyLanguage, Statement }) as unknown as PolicyDocument)

const several = <T extends string>(...values: readonly T[]) => fc.oneof(fc.constantFrom(...values), fc.array(fc.constantFrom(...values), { maxLength: 3 }))
const context = fc.record(
  {
    'zs:UserName': several(...people),
    'zs:OrganisationId': fc.constantFrom('one', 'two'),
    'zs:SourceIp': fc.constantFrom(...addresses),
    'zs:CurrentTime': fc.constantFrom(...moments, 'yesterday'),
    'zs:MfaPresent': fc.constantFrom('true', 'false', 'perhaps'),
    'zs:MfaAge': several(...numbers),
    'zs:ResourceTag/owner': several(...people),
    'zs:ResourceTag/team': several('a', 'b', 'li'),
  },
  { requiredKeys: [] },
)

const situation = fc.record({
  policies: fc.array(document, { maxLength: 3 }),
  boundaries: fc.array(document, { maxLength: 2 }),
  requests: fc.array(fc.record({ action: fc.constantFrom(...actions), resource, context }), { minLength: 10, maxLength: 10 }),
})

it('decides as a second reading of the language does, a hundred thousand times', () => {
  const seen = new Map<string, number>()
  let decided = 0
  fc.assert(
    fc.property(situation, ({ policies, boundaries, requests }) => {
      const compile = (documents: readonly PolicyDocument[]) => compilePolicies(documents.map((document, index) => ({ id: String(index), document })))
      const [mine, limits] = [compile(policies), boundaries.map((boundary) => compile([boundary]))]
      for (const request of requests) {
        const { outcome } = decide(mine, limits, request)
        expect(outcome).toBe(referenceOutcome(policies, boundaries, request))
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
        decided++
      }
    }),
    { numRuns: 10_000 },
  )
  expect(decided).toBe(100_000)
  // Each outcome comes often enough to mean something.
  for (const outcome of ['allowed', 'explicitDeny', 'outsideBoundary', 'implicitDeny']) expect(seen.get(outcome) ?? 0, outcome).toBeGreaterThan(2000)
})

it('is asked about documents that can be written', () => {
  fc.assert(
    fc.property(document, (one) => policyDocument.safeParse(one).success),
    { numRuns: 500 },
  )
})
