import { allCalls } from '@zhisuan/contract/calls'
import type { Also, Call } from '@zhisuan/contract/define'
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

  /** Without a body, unless it says what a policy is to be about that alone allows the call. */
  const ask = (call: Call, token: string | undefined) =>
    send(app, call, {
      params: params(call),
      ...(token !== undefined && { token }),
      ...(call.onlyByPolicy.length > 0 && call.subjects !== undefined && { body: bodies[call.id] }),
    })

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

const someId = '018f0000-0000-7000-8000-000000000000'
const someFingerprint = 'a'.repeat(64)
const ordered = { period: 'month', count: 1 }
const newVm = { cloud_id: someId, name: 'a', type: 'container', image_fingerprint: someFingerprint, flavor_id: someId, network: 'lan', user_data: '#!/bin/sh' }
/** Bodies of calls that are about what stands in them, or do other things according to them: without one they would be refused for that. */
const bodies: Readonly<Record<string, unknown>> = {
  'nextstack.command.create': { vm_ids: [someId], script: 'true' },
  'ecrm.edge.unbind': { ids: [someId] },
  'nextstack.snapshot.create': { vm_id: someId, name: 'a' },
  'nextstack.snapshotSchedule.create': { vm_id: someId, name: 'a', rhythm: 'daily', at: '03:00' },
  'nextstack.volume.create': { cloud_id: someId, name: 'a', size_bytes: 2 ** 30, attach: { vm_id: someId } },
  'nextstack.volume.attach': { vm_id: someId },
  'nextstack.volumeSnapshot.create': { volume_id: someId, name: 'a' },
  'nextstack.volumeBackup.create': { volume_id: someId, name: 'a' },
  'nextstack.eip.bind': { kind: 'vm', target_id: someId },
  'nextstack.nat.addRule': { eip_id: someId, protocol: 'tcp', outside_ports: '80', vm_id: someId },
  'nextstack.nat.create': { name: 'a', snat: true, snat_eip_id: someId, vpc_id: someId },
  'nextstack.nat.update': { name: 'a', snat: true, snat_eip_id: someId },
  'nextstack.image.fromVm': { name: 'a', vm_id: someId },
  'compute.instance.create': {
    name: 'a',
    flavor_id: someId,
    source: { type: 'volume', volume_id: someId },
    disks: [{ size_bytes: 2 ** 30 }],
    networks: [],
  },
  'compute.instance.attachInterface': { network_id: someId },
  'compute.instance.attachVolume': { volume_id: someId },
  'compute.volume.attach': { server_id: someId },
  'compute.volume.detach': { server_id: someId },
  'compute.volumeSnapshot.create': { name: 'a', volume_id: someId },
  'compute.volumeBackup.create': { name: 'a', volume_id: someId },
  'compute.volumeTransfer.create': { name: 'a', volume_id: someId },
  'compute.volumeBackup.restore': { volume_id: null, name: 'a' },
  'compute.floatingIp.allocate': { network_id: someId, port_id: someId },
  'compute.floatingIp.bind': { port_id: someId },
  'compute.floatingIp.unbind': { from_port_id: someId },
  'aos.stack.create': { name: 'a', template_id: someId, values: {}, placement: { edge_ids: [someId] } },
  'aos.stack.action': { action: 'update', template_id: someId, values: {} },
  'aos.stackConfig.put': { stack_id: someId, configs: [] },
  'aos.nodeStack.create': { name: 'a', template_id: someId, values: {}, edge_id: someId },
  'cis.container.deploy': { name: 'a', spec: { image: 'alpine' }, placement: { edge_ids: [someId] } },
  'cis.config.put': { name: 'a', content: 'a', restart: true },
  'bill.order.create': { resource_type: 'nextstack.vm', create: newVm, ...ordered },
  'bill.prepaid.setAutoRenew': { auto_renew: true, ...ordered },
  'iam.policy.addVersion': { document: policyOf(allow('*')), default: true },
  'files.entry.move': { ids: [someId] },
  'files.entry.copy': { ids: [someId], space_id: someId },
  'files.entry.delete': { ids: [someId] },
  'files.entry.restore': { ids: [someId] },
  'files.entry.purge': { ids: [someId] },
  'files.entry.download': { ids: [someId] },
  'files.share.create': { entry_id: someId },
  'files.entry.publish': { ids: [someId] },
  'ecrm.edge.pullImage': { image: 'alpine' },
  'cis.container.action': { action: 'start' },
  'ims.project.create': { name: 'team', keep_rules: [{ newest: 1 }] },
  'ims.project.update': { keep_rules: [{ newest: 1 }] },
  'ims.registry.update': { name: 'a', connection: { engine: 'distribution', url: 'https://example.com', account: { username: 'a', password: 'a' } } },
  'ims.preheat.create': { images: [{ repository: 'team/app', tag: '1' }], nodes: { node_ids: [someId] } },
  'ims.preheat.createThird': { images: [{ repository: 'team/app', tag: '1' }], nodes: { node_ids: [someId] } },
  'market.rental.create': { name: 'a', offer_id: someId, image: 'alpine' },
  'market.rental.limit': { idle_minutes: 5 },
  'files.machine.toMachine': { machine: { kind: 'cis.container', id: someId }, path: '/', entry_id: someId },
  'files.machine.fromMachine': { machine: { kind: 'cis.container', id: someId }, path: '/', space_id: someId },
}

/** What a call does besides, made as the sweep makes it. */
const alsoOf = (call: Call): readonly Also[] => call.also?.({ params: params(call), body: bodies[call.id] }) ?? []

/** Whether a body says what it does. */
function asksBody(call: Call): boolean {
  let asked = false
  call.also?.({
    params: {},
    get body() {
      asked = true
      return undefined
    },
  })
  return asked || call.subjects !== undefined
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
    const subject = bodies[call.id] === undefined ? undefined : call.subjects?.(bodies[call.id])[0]
    const [service, type] = (subject?.kind ?? call.id).split('.')
    if (call.subjectId !== undefined) return `zrn:${service}:${organisation}:${type}/${call.subjectId(params(call)) ?? '*'}`
    return `zrn:${service}:${organisation}:${type}/${subject !== undefined || call.path.includes('{id}') ? someId : '*'}`
  }
  /** What belongs to something belongs to nothing here: nothing is there. */
  const resourceOfAlso = ({ action, on }: Also): string => {
    const [service, type] = (on?.kind ?? action).split('.')
    return `zrn:${service}:${organisation}:${type}/${on === undefined || on.of !== undefined ? '*' : (on.id ?? '*')}`
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
    expect(asked.filter((call) => asksBody(call) && bodies[call.id] === undefined).map(({ id }) => id)).toEqual([])
    for (const call of asked) if (bodies[call.id] !== undefined) expect(call.body.safeParse(bodies[call.id]).error?.issues ?? [], call.id).toEqual([])
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
        const context = {
          'zs:UserId': person.id,
          'zs:UserName': person.name,
          'zs:UserKind': '4',
          'zs:OrganisationId': organisation,
          'zs:SourceIp': ip,
          'zs:CurrentTime': new Date().toISOString(),
          'zs:MfaPresent': String(wish.secondFactor === true),
          ...(wish.secondFactor === true && { 'zs:MfaAge': '1' }),
        }
        const outcomes = [
          { action: call.id, resource: resourceOf(call) },
          ...alsoOf(call).map((also) => ({ action: also.action, resource: resourceOfAlso(also) })),
        ].map((one) =>
          referenceOutcome([everybody, policyOf(...wish.statements)], wish.boundary === undefined ? [] : [policyOf(...wish.boundary)], { ...one, context }),
        )
        for (const one of outcomes) seen.get(call.id)?.add(one)
        const outcome = outcomes.find((one) => one !== 'allowed') ?? 'allowed'
        if (outcome === 'allowed') expect(denied, `${call.id}: ${name}`).not.toContain(code)
        else expect(code, `${call.id}: ${name}`).toBe(3000)
      }
    }
    for (const [id, outcomes] of seen) expect([...outcomes], id).toEqual(expect.arrayContaining(['allowed', 'explicitDeny', 'outsideBoundary']))
  })
}

/** Each of these calls that does another one's work, or acts on something else, by somebody who is denied just that. */
export function underlyingActions(calls: readonly Call[]): void {
  const doing = calls.filter(({ access, always, also }) => access !== 'public' && !always && also !== undefined)
  let app: TestApp
  let admin: SignedIn
  beforeAll(async () => {
    app = await testApp()
    admin = await someone(app, { kind: 1 })
  })
  afterAll(() => app.close())

  it('names calls, which whoever may make the call by their role may make too', () => {
    for (const call of doing) {
      for (const { action, on } of alsoOf(call)) {
        const other = allCalls.find(({ id }) => id === action)
        expect(other, `${call.id}: ${action}`).toBeDefined()
        expect(on === undefined || allCalls.some(({ id }) => id.startsWith(`${on.kind}.`)), `${call.id}: ${on?.kind}`).toBe(true)
        for (const role of roles) {
          const who = { kind: role === 'ADMIN' ? 1 : 4, roles: [role] } as const
          if (mayAccess(call.access, who))
            expect(other !== undefined && mayAccess(other.access, who) && !other.onlyByPolicy.includes(role), `${call.id}: ${action} for ${role}`).toBe(true)
        }
      }
    }
  })

  it('refuses a call where what it does besides is denied, and says which', async () => {
    const organisation = await makeOrganisation(app)
    const denials = new Map<string, { statement: PolicyStatement; of: { call: Call; action: string }[] }>()
    for (const call of doing) {
      for (const also of alsoOf(call)) {
        const [service, type] = (also.on?.kind ?? also.action).split('.')
        const statement = deny(also.action, { Resource: `zrn:${service}:*:${type}/*` })
        const key = JSON.stringify(statement)
        const known = denials.get(key) ?? { statement, of: [] }
        known.of.push({ call, action: also.action })
        denials.set(key, known)
      }
    }
    for (const { statement, of } of denials.values()) {
      const policy = await keeping(app).makePolicy(admin, [allow('*'), statement])
      const tokens = new Map<Role, string>()
      for (const { call, action } of of) {
        const base = roles.find((role) => mayAccess(call.access, { kind: 4, roles: [role] })) ?? 'TENANT'
        if (!tokens.has(base)) {
          const person = await makeUser(app, { kind: 4, roles: [base], organisation })
          await keeping(app).give(admin, policy, { user_id: person.id })
          tokens.set(base, (await signIn(app, person)).token)
        }
        const token = tokens.get(base)
        const answer = await send(app, call, { token, params: params(call), ...(bodies[call.id] !== undefined && { body: bodies[call.id] }) })
        expect(answer.body, `${call.id} without ${action}`).toMatchObject({ code: 3000, refused: { action, outcome: 'explicitDeny' } })
      }
    }
  })
}
