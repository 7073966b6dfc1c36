import type { Call } from '@zhisuan/contract/define'
import { policyLimits, type PolicyStatement } from '@zhisuan/contract/policy/document'
import { referenceOutcome } from '@zhisuan/contract/policy/reference'
import { mayAccess, roles, type Role } from '@zhisuan/contract/roles'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testApp, type TestApp } from './testing/app.ts'
import { send } from './testing/call.ts'
import { makeOrganisation, makeUser, signIn, someone, type Person, type SignedIn } from './testing/people.ts'
import { allow, deny, keeping, policyOf } from './testing/policies.ts'

/** What refuses somebody for who they are, rather than for what they ask. */
const denied = new Set([90007, 90008, 3000])

const params = (call: Call): Record<string, string> =>
  Object.fromEntries(
    [...call.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [
      name,
      name === 'phone' ? '13912345678' : name === 'email' ? 'somebody@example.com' : '018f0000-0000-7000-8000-000000000000',
    ]),
  )
const codeOf = (answer: { body: unknown }): number | null => {
  const { body } = answer
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'number' ? body.code : null
}

/** Each of these calls, made by nobody, by somebody made up, by one who was signed in, and by each role. */
export function declaredAccess(calls: readonly Call[]): void {
  let app: TestApp
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(() => app.close())

  const ask = (call: Call, token: string | undefined) => send(app, call, { params: params(call), ...(token !== undefined && { token }) })

  it.each(calls.map((call) => [call.id, call] as const))('%s without a token', async (_, call) => {
    const code = codeOf(await ask(call, undefined))
    if (call.access === 'public') expect(denied).not.toContain(code)
    else expect(code).toBe(90007)
  })

  it('a made-up token stands for nobody', async () => {
    for (const call of calls) {
      if (call.access !== 'public') expect(codeOf(await ask(call, 'a'.repeat(43)))).toBe(90008)
    }
  })

  it('an expired token stands for nobody', async () => {
    const person = await makeUser(app, { kind: 0 })
    const { token } = await signIn(app, person)
    app.clock.advance(16 * 60_000)
    for (const call of calls) {
      if (call.access !== 'public') expect(codeOf(await ask(call, token))).toBe(90008)
    }
  })

  it.each(roles)('%s', async (role: Role) => {
    const kind = role === 'ADMIN' ? 1 : 4
    const person = await makeUser(app, { kind, roles: [role] })
    const signInAnew = async () => (await signIn(app, person).catch(async () => signIn(app, await makeUser(app, { kind, roles: [role] })))).token
    let token = await signInAnew()
    for (const call of calls) {
      let code = codeOf(await ask(call, token))
      if (code === 90008) {
        // The call before ended the session.
        token = await signInAnew()
        code = codeOf(await ask(call, token))
      }
      const may = mayAccess(call.access, { kind, roles: [role] }) && !call.onlyByPolicy.includes(role)
      if (may) expect(denied, `${call.id} for ${role}`).not.toContain(code)
      else expect(code, `${call.id} for ${role}`).toBe(3000)
    }
  })
}

/** Bodies of calls that are about what stands in them: without one they would be refused for that. */
const someId = '018f0000-0000-7000-8000-000000000000'
const bodies: Readonly<Record<string, unknown>> = {
  'nextstack.command.create': { vm_ids: [someId], script: 'true' },
  'ecrm.edge.unbind': { ids: [someId] },
  'files.entry.move': { ids: [someId] },
  'files.entry.copy': { ids: [someId], space_id: someId },
  'files.entry.delete': { ids: [someId] },
  'files.entry.restore': { ids: [someId] },
  'files.entry.purge': { ids: [someId] },
  'files.entry.download': { ids: [someId] },
  'files.share.create': { entry_id: someId },
}

/** Each of these calls under policies that allow it, deny it, and bound whoever makes it. */
export function customPolicies(calls: readonly Call[]): void {
  let app: TestApp
  let admin: SignedIn
  let organisation: string
  beforeAll(async () => {
    app = await testApp()
    admin = await someone(app, { kind: 1 })
    organisation = await makeOrganisation(app)
  })
  afterAll(() => app.close())

  const asked = calls.filter(({ access, always }) => access !== 'public' && !always)
  /** Of each call one base that may make it, another one for each next call. */
  const baseOf = (call: Call, index: number): Role => {
    const possible = roles.filter((role) => mayAccess(call.access, { kind: 4, roles: [role] }))
    return possible[index % possible.length] ?? 'ADMIN'
  }
  const quarter = (...of: number[]): string[] => asked.filter((_, index) => of.includes(index % 4)).map(({ id }) => id)
  const each = (of: (actions: string[]) => PolicyStatement, actions: string[]): PolicyStatement[] =>
    Array.from({ length: Math.ceil(actions.length / policyLimits.items) }, (_, at) => of(actions.slice(at * policyLimits.items, (at + 1) * policyLimits.items)))
  const resourceOf = (call: Call): string => {
    const [service, type] = (bodies[call.id] === undefined ? call.id : (call.subjects?.(bodies[call.id])[0]?.kind ?? '')).split('.')
    return `zrn:${service}:${organisation}:${type}/${bodies[call.id] !== undefined || call.path.includes('{id}') ? someId : '*'}`
  }

  interface Wish {
    readonly statements: readonly PolicyStatement[]
    readonly boundary?: readonly PolicyStatement[]
    readonly ip?: string
    readonly secondFactor?: boolean
  }
  const all = allow('*')
  const wishes: Readonly<Record<string, Wish>> = {
    'allowed by name': { statements: each((actions) => allow(actions), quarter(0, 1)) },
    'denied by name': { statements: [all, ...each((actions) => deny(actions), quarter(1))] },
    'denied all others': { statements: [all, ...each((actions) => deny(actions), quarter(0, 2, 3))] },
    'allowed by wildcards': { statements: [allow(['*.list', 'nextstack.v?.*', 'iam.*'])] },
    'denied all but some': { statements: [all, { Effect: 'Deny', NotAction: ['*.get', 'ecrm.*'], Resource: '*' }] },
    // oxlint-disable-next-line no-template-curly-in-string
    'allowed by resource': { statements: [allow('*', { Resource: ['zrn:*:${zs:OrganisationId}:vm/*', 'zrn:iam:*:*', `zrn:*:*:*/${someId}`] })] },
    'denied on a resource': { statements: [all, deny('*', { Resource: `zrn:*:*:*/${someId}` })] },
    'with a second factor': {
      statements: [allow('*', { Condition: { Bool: { 'zs:MfaPresent': 'true' }, NumericLessThan: { 'zs:MfaAge': 900 } } })],
      secondFactor: true,
    },
    'without a second factor': { statements: [all, ...each((actions) => deny(actions, { Condition: { Bool: { 'zs:MfaPresent': 'false' } } }), quarter(0, 3))] },
    'from an address within': { statements: [allow('*', { Condition: { IpAddress: { 'zs:SourceIp': '192.0.2.0/24' } } })], ip: '192.0.2.77' },
    'from an address without': {
      statements: [all, ...each((actions) => deny(actions, { Condition: { NotIpAddress: { 'zs:SourceIp': '192.0.2.0/24' } } }), quarter(2))],
      ip: '198.51.100.7',
    },
    'in a time that is': {
      statements: [
        allow('*', { Condition: { DateGreaterThan: { 'zs:CurrentTime': '2020-01-01' }, DateLessThan: { 'zs:CurrentTime': '2999-01-01T00:00:00Z' } } }),
      ],
    },
    'in a time that was': { statements: [allow('*', { Condition: { DateLessThan: { 'zs:CurrentTime': '2020-01-01' } } })] },
    'with a tag that is not': {
      statements: [
        all,
        ...each((actions) => deny(actions, { Condition: { StringEquals: { 'zs:ResourceTag/stage': 'production' } } }), quarter(1, 2)),
        allow('*', { Condition: { StringNotEquals: { 'zs:RequestTag/stage': 'test' } } }),
      ],
    },
    'within a boundary': { statements: [all], boundary: each((actions) => allow(actions), quarter(0, 1)) },
    'within the other boundary': { statements: [all], boundary: each((actions) => allow(actions), quarter(2, 3)) },
  }

  const everybody = policyOf(
    ...each(
      (actions) => allow(actions),
      asked.filter(({ access }) => access === 'all').map(({ id }) => id),
    ),
  )

  it('has a body for each call that is about what stands in one', () => {
    expect(asked.filter(({ subjects, id }) => subjects !== undefined && bodies[id] === undefined).map(({ id }) => id)).toEqual([])
  })

  it('refuses and lets pass just so, each call by an allowance, a denial and a boundary', async () => {
    const seen = new Map<string, Set<string>>(asked.map(({ id }) => [id, new Set<string>()]))
    const bases = [...new Set(asked.map(baseOf))]
    for (const [name, wish] of Object.entries(wishes)) {
      const policy = await keeping(app).makePolicy(admin, wish.statements)
      const boundary = wish.boundary === undefined ? null : await keeping(app).makePolicy(admin, wish.boundary)
      const people = new Map<Role, Person & { token: string }>()
      const signInAs = async (person: Person): Promise<Person & { token: string }> => {
        const { token } = await signIn(app, person)
        if (wish.secondFactor === true)
          await app.platform.db.updateTable('sessions').set({ second_factor_at: new Date() }).where('user_id', '=', person.id).execute()
        return { ...person, token }
      }
      for (const base of bases) {
        const role = await keeping(app).makeRole(admin, { base, bp_id: organisation })
        await keeping(app).give(admin, policy, { role_id: role.id })
        const person = await makeUser(app, { kind: 4, roles: [], organisation })
        await keeping(app).addMember(admin, role, person.id)
        if (boundary !== null) await keeping(app).bound(admin, { user_id: person.id }, boundary)
        people.set(base, await signInAs(person))
      }
      const ip = wish.ip ?? '203.0.113.9'
      for (const [index, call] of asked.entries()) {
        const base = baseOf(call, index)
        const ask = async (): Promise<number | null> =>
          codeOf(
            await send(app, call, {
              token: people.get(base)?.token,
              params: params(call),
              ip,
              ...(bodies[call.id] !== undefined && { body: bodies[call.id] }),
            }),
          )
        let code = await ask()
        const person = people.get(base)
        if (person === undefined) throw new Error(base)
        if (code === 90008) {
          // The call before ended the session.
          people.set(base, await signInAs(person))
          code = await ask()
        }
        const outcome = referenceOutcome([everybody, policyOf(...wish.statements)], wish.boundary === undefined ? [] : [policyOf(...wish.boundary)], {
          action: call.id,
          resource: resourceOf(call),
          context: {
            'zs:UserId': person.id,
            'zs:UserName': person.name,
            'zs:UserKind': '4',
            'zs:OrganisationId': organisation,
            'zs:SourceIp': ip,
            'zs:CurrentTime': new Date().toISOString(),
            'zs:MfaPresent': String(wish.secondFactor === true),
            ...(wish.secondFactor === true && { 'zs:MfaAge': '1' }),
          },
        })
        seen.get(call.id)?.add(outcome)
        if (outcome === 'allowed') expect(denied, `${call.id}: ${name}`).not.toContain(code)
        else expect(code, `${call.id}: ${name}`).toBe(3000)
      }
    }
    for (const [id, outcomes] of seen) expect([...outcomes], id).toEqual(expect.arrayContaining(['allowed', 'explicitDeny', 'outsideBoundary']))
  })
}
