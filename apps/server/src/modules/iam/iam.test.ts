import { randomUUID } from 'node:crypto'
import type { BodyInput } from '@zhisuan/contract/define'
import { decisions } from '@zhisuan/contract/iam/decision'
import { boundaries, grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { customRoles } from '@zhisuan/contract/iam/role'
import { resourceTypes, services } from '@zhisuan/contract/iam/service'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { commands } from '@zhisuan/contract/nextstack/command'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { policyLanguage, type PolicyDocument, type PolicyStatement } from '@zhisuan/contract/policy/document'
import { organisations, users } from '@zhisuan/contract/ums/user'
import type { Call } from '@zhisuan/contract/define'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused, send, type AnyInput } from '../../testing/call.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'
import { builtInRoleId } from './iam.migrations.ts'

let app: TestApp
let admin: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const document = (...Statement: PolicyStatement[]): PolicyDocument => ({ Version: policyLanguage, Statement })
const allow = (Action: string | string[], more: Partial<PolicyStatement> = {}): PolicyStatement => ({ Effect: 'Allow', Action, Resource: '*', ...more })
const deny = (Action: string | string[], more: Partial<PolicyStatement> = {}): PolicyStatement => ({ Effect: 'Deny', Action, Resource: '*', ...more })
const name = () => `p-${randomUUID()}`

const makePolicy = (by: SignedIn, statements: PolicyStatement[], more: Partial<BodyInput<typeof policies.create>> = {}) =>
  call(app, policies.create, { token: by.token, body: { name: name(), document: document(...statements), ...more } })
const give = (by: SignedIn, policy: { id: string }, holder: { user_id: string } | { role_id: string } | { project_id: string }) =>
  call(app, grants.create, { token: by.token, body: { policy_id: policy.id, ...holder } })
const makeRole = (by: SignedIn, more: Partial<BodyInput<typeof customRoles.create>> = {}) =>
  call(app, customRoles.create, { token: by.token, body: { name: name(), base: 'TENANT', ...more } })
const denied = async (who: SignedIn, what: Call, input: AnyInput = {}): Promise<boolean> => {
  const answer = await send(app, what, { token: who.token, ...input })
  return typeof answer.body === 'object' && answer.body !== null && 'code' in answer.body && answer.body.code === 3000
}
/** A company: its administrator, and somebody of it. */
const company = async () => {
  const boss = await someone(app)
  const member = await someone(app, { kind: 4, organisation: boss.bp_id })
  return { boss, member }
}
const somewhere = { params: { id: randomUUID() } }

describe('policies', () => {
  it('are made, read, renamed, found and deleted', async () => {
    const made = await makePolicy(admin, [allow('nextstack.vm.list')], { description: '只看' })
    expect(made).toMatchObject({ bp_id: null, default_version: 1, version_count: 1, contact_count: 0, description: '只看', created_by: admin.name })
    expect(await call(app, policies.get, { token: admin.token, params: { id: made.id } })).toEqual({ ...made, document: document(allow('nextstack.vm.list')) })
    const renamed = await call(app, policies.update, { token: admin.token, params: { id: made.id }, body: { name: `n-${randomUUID()}` } })
    const found = await call(app, policies.list, { token: admin.token, query: { keyword: renamed.name } })
    expect(found).toMatchObject({ total: 1, items: [{ id: made.id }] })
    expect(
      await refused(app, policies.create, { token: admin.token, body: { name: renamed.name.toUpperCase(), document: document(allow('*')) } }),
    ).toMatchObject({ code: 91102, fields: [{ field: 'name' }] })
    await call(app, policies.delete, { token: admin.token, params: { id: made.id } })
    expect(await refused(app, policies.get, { token: admin.token, params: { id: made.id } })).toMatchObject({ status: 404 })
  })

  it('with what makes no sense are refused by place', async () => {
    const refusal = await refused(app, policies.create, {
      token: admin.token,
      body: { name: name(), document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: 'nextstack.vm.fly', Resource: 'vm' }] } },
    })
    expect(refusal).toMatchObject({ status: 400, code: 91101 })
    expect(refusal.fields?.map(({ field }) => field)).toEqual(['document.Statement.0.Resource'])
    expect(await refused(app, policies.create, { token: admin.token, body: { name: name() } })).toMatchObject({ code: 90001 })
    const checked = await call(app, policies.check, { token: admin.token, body: { document: document(allow('nextstack.vm.fly')) } })
    expect(checked.problems).toEqual([{ path: ['Statement', 0, 'Action'], message: '没有这样的操作' }])
  })

  it('keep five versions, of which one counts', async () => {
    const made = await makePolicy(admin, [allow('nextstack.vm.list')])
    const to = { token: admin.token, params: { id: made.id } }
    for (let version = 2; version <= 5; version++) await call(app, policies.addVersion, { ...to, body: { document: document(allow('nextstack.vm.get')) } })
    expect(await refused(app, policies.addVersion, { ...to, body: { document: document(allow('*')) } })).toMatchObject({ code: 91104 })
    expect(await refused(app, policies.deleteVersion, { token: admin.token, params: { id: made.id, version: '1' } })).toMatchObject({ code: 91105 })
    expect(await call(app, policies.setDefault, { token: admin.token, params: { id: made.id, version: 3 } })).toMatchObject({ default_version: 3 })
    await call(app, policies.deleteVersion, { token: admin.token, params: { id: made.id, version: 1 } })
    // A number is not used again.
    expect(await call(app, policies.addVersion, { ...to, body: { document: document(allow('*')), default: true } })).toMatchObject({
      version: 6,
      is_default: true,
    })
    expect((await call(app, policies.versions, to)).items.map(({ version, is_default }) => [version, is_default])).toEqual([
      [6, true],
      [5, false],
      [4, false],
      [3, false],
      [2, false],
    ])
  })

  it('of an organisation do not exist for another; the platform’s are there for all, to be given and not to be changed', async () => {
    const [{ boss }, { boss: stranger }] = [await company(), await company()]
    const own = await makePolicy(boss, [allow('nextstack.vm.list')])
    expect(own.bp_id).toBe(boss.bp_id)
    const platforms = await makePolicy(admin, [allow('nextstack.vm.list')])
    for (const [what, input] of [
      [policies.get, {}],
      [policies.update, { body: { name: name() } }],
      [policies.delete, {}],
      [policies.versions, {}],
      [policies.contacts, {}],
      [policies.addVersion, { body: { document: document(allow('*')) } }],
    ] as const) {
      expect((await send(app, what, { token: stranger.token, params: { id: own.id }, ...input })).status, what.id).toBe(404)
    }
    expect(await denied(boss, policies.update, { params: { id: platforms.id }, body: { name: name() } })).toBe(true)
    expect(await denied(boss, policies.addVersion, { params: { id: platforms.id }, body: { document: document(allow('*')) } })).toBe(true)
    const seen = await call(app, policies.list, { token: boss.token, query: { page_size: 1000 } })
    expect(seen.items.map(({ id }) => id)).toEqual(expect.arrayContaining([own.id, platforms.id]))
    expect((await call(app, policies.list, { token: stranger.token, query: { page_size: 1000 } })).items.map(({ id }) => id)).not.toContain(own.id)
    expect(await refused(app, grants.create, { token: stranger.token, body: { policy_id: own.id, user_id: stranger.id } })).toMatchObject({
      status: 404,
      fields: [{ field: 'policy_id' }],
    })
  })
})

describe('what policies say', () => {
  it('counts from the next request on: given, changed by another version, taken back', async () => {
    const { member } = await company()
    expect(await denied(member, vms.list)).toBe(false)
    const policy = await makePolicy(admin, [deny('nextstack.vm.*')])
    const given = await give(admin, policy, { user_id: member.id })
    expect(await denied(member, vms.list)).toBe(true)
    expect(await denied(member, flavors.list)).toBe(false)
    await call(app, policies.addVersion, {
      token: admin.token,
      params: { id: policy.id },
      body: { document: document(deny('nextstack.vm.create')), default: true },
    })
    expect(await denied(member, vms.list)).toBe(false)
    expect(await denied(member, vms.create, { body: {} })).toBe(true)
    expect(await refused(app, policies.delete, { token: admin.token, params: { id: policy.id } })).toMatchObject({ code: 91103 })
    await call(app, grants.delete, { token: admin.token, params: { id: given.id } })
    expect(await denied(member, vms.create, { body: {} })).toBe(false)
  })

  it('comes by roles, built-in ones too, and by projects', async () => {
    const { boss, member } = await company()
    const noVms = await makePolicy(admin, [deny('nextstack.vm.list', { Condition: { StringEquals: { 'zs:UserId': member.id } } })])
    const toTenants = await give(admin, noVms, { role_id: builtInRoleId('TENANT') })
    expect([await denied(member, vms.list), await denied(boss, vms.list)]).toEqual([true, false])
    await call(app, grants.delete, { token: admin.token, params: { id: toTenants.id } })
    const project = await app.platform.db.selectFrom('projects').select('id').where('bp_id', '=', boss.bp_id).executeTakeFirstOrThrow()
    await give(admin, noVms, { project_id: project.id })
    expect(await denied(member, vms.list)).toBe(false)
    await app.platform.db.insertInto('project_members').values({ project_id: project.id, user_id: member.id }).execute()
    const { token } = await signIn(app, member)
    expect(await denied({ ...member, token }, vms.list)).toBe(true)
  })

  it('of a custom role is all that its members may, within the calls of its base', async () => {
    const { boss } = await company()
    const role = await makeRole(boss)
    await give(boss, await makePolicy(boss, [allow(['nextstack.vm.list', 'ums.user.list', 'sys.*'])]), { role_id: role.id })
    const member = await someone(app, { kind: 4, roles: [], organisation: boss.bp_id })
    expect(await denied(member, vms.list)).toBe(true)
    await call(app, customRoles.addMember, { token: boss.token, params: { id: role.id }, body: { user_id: member.id } })
    expect(await denied(member, vms.list)).toBe(false)
    expect(await denied(member, flavors.list)).toBe(true)
    // Calls that no tenant may make, whatever a policy says.
    expect(await denied(member, users.list)).toBe(true)
    // What everybody may.
    expect(await call(app, users.current, { token: member.token })).toMatchObject({ permissions: [{ role: 'TENANT' }] })
    expect(await denied(member, organisations.list)).toBe(false)
  })

  it('is asked about the resource of the path, each of a body, and circumstances', async () => {
    const { boss, member } = await company()
    const [mine, other] = [randomUUID(), randomUUID()]
    const role = await makeRole(admin, { bp_id: boss.bp_id })
    await give(
      admin,
      await makePolicy(admin, [
        allow(['nextstack.vm.get', 'nextstack.command.create'], { Resource: `zrn:nextstack:\${zs:OrganisationId}:vm/${mine}` }),
        allow('ecrm.edge.list', { Condition: { IpAddress: { 'zs:SourceIp': '192.0.2.0/24' } } }),
      ]),
      { role_id: role.id },
    )
    const limited = await someone(app, { kind: 4, roles: [], organisation: boss.bp_id })
    await call(app, customRoles.addMember, { token: admin.token, params: { id: role.id }, body: { user_id: limited.id } })
    expect([await denied(limited, vms.get, { params: { id: mine } }), await denied(limited, vms.get, { params: { id: other } })]).toEqual([false, true])
    const run = (...vm_ids: string[]) => denied(limited, commands.create, { body: { vm_ids, script: 'true' } })
    expect([await run(mine), await run(other), await run(mine, other)]).toEqual([false, true, true])
    expect([await denied(limited, edges.list, { ip: '192.0.2.7' }), await denied(limited, edges.list, { ip: '198.51.100.7' })]).toEqual([false, true])
    expect(await denied(member, vms.get, { params: { id: other } })).toBe(false)
  })

  it('stays within the boundaries of person and organisation, and denies nobody to leave', async () => {
    const { boss, member } = await company()
    const onlyVms = await makePolicy(admin, [allow(['nextstack.vm.*', 'iam.*'])])
    const set = (what: typeof boundaries.setOfUser | typeof boundaries.setOfOrganisation, id: string | null, policy_id: string | null) =>
      call(app, what, { token: admin.token, params: { id: id ?? '' }, body: { policy_id } })
    await set(boundaries.setOfOrganisation, boss.bp_id, onlyVms.id)
    expect([await denied(member, flavors.list), await denied(member, vms.list), await denied(boss, edges.list)]).toEqual([true, false, true])
    const reads = await makePolicy(admin, [allow('*.list')])
    await set(boundaries.setOfUser, member.id, reads.id)
    expect([await denied(member, vms.list), await denied(member, vms.get, somewhere), await denied(boss, vms.get, somewhere)]).toEqual([false, true, false])
    expect((await send(app, users.current, { token: member.token })).status).toBe(200)
    expect((await call(app, policies.contacts, { token: admin.token, params: { id: onlyVms.id } })).items).toMatchObject([
      { kind: 'organisation_boundary', id: boss.bp_id },
    ])
    await set(boundaries.setOfOrganisation, boss.bp_id, null)
    await set(boundaries.setOfUser, member.id, null)
    expect(await denied(member, flavors.list)).toBe(false)
  })

  it('does not keep out whoever set the platform up', async () => {
    const system = await someone(app, { kind: 0 })
    const all = await makePolicy(admin, [deny('*')])
    const given = await give(admin, all, { user_id: system.id })
    expect(await denied(system, users.list)).toBe(false)
    await call(app, grants.delete, { token: system.token, params: { id: given.id } })
  })

  it('is known on every server', async () => {
    const second = await testApp({ DATABASE_URL: app.databaseUrl })
    try {
      const { member } = await company()
      expect((await send(second, vms.list, { token: member.token })).status).toBe(200)
      await give(admin, await makePolicy(admin, [deny('nextstack.vm.list')]), { user_id: member.id })
      await expect.poll(async () => (await send(second, vms.list, { token: member.token })).status).toBe(403)
    } finally {
      await second.close()
    }
  })
})

describe('nobody helps themselves to more', () => {
  it('by a policy, a role or a version of their own', async () => {
    const { boss, member } = await company()
    const role = await makeRole(boss)
    const everything = await makePolicy(boss, [allow('*')])
    expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: everything.id, user_id: boss.id } })).toMatchObject({
      code: 91110,
      fields: [{ field: 'user_id' }],
    })
    expect(await refused(app, customRoles.addMember, { token: boss.token, params: { id: role.id }, body: { user_id: boss.id } })).toMatchObject({ code: 91110 })
    expect(
      await refused(app, customRoles.addMember, { token: boss.token, params: { id: builtInRoleId('ADMIN') }, body: { user_id: member.id } }),
    ).toMatchObject({ code: 91107 })
    expect(await refused(app, customRoles.create, { token: boss.token, body: { name: name(), base: 'ADMIN' } })).toMatchObject({
      code: 91107,
      fields: [{ field: 'base' }],
    })
    expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: everything.id, role_id: builtInRoleId('TENANT') } })).toMatchObject({
      code: 91108,
    })
    for (const what of [boundaries.setOfUser, boundaries.setOfOrganisation])
      expect(await denied(boss, what, { params: { id: boss.id }, body: { policy_id: null } })).toBe(true)
    // A member keeps nobody.
    for (const what of [policies.list, customRoles.list, grants.list]) expect(await denied(member, what)).toBe(true)
  })

  it('by others: what is denied to them they give to nobody', async () => {
    const { boss, member } = await company()
    await give(admin, await makePolicy(admin, [deny('nextstack.vm.delete', { Resource: 'zrn:nextstack:*:vm/prod' })]), { user_id: boss.id })
    const policy = await makePolicy(boss, [allow('nextstack.vm.*')])
    expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: policy.id, user_id: member.id } })).toMatchObject({
      status: 403,
      code: 91106,
      message: expect.stringContaining('nextstack.vm.delete'),
    })
    // As little by a wildcard, by all but some, or by a role.
    for (const statement of [allow('*.d?lete'), { Effect: 'Allow', NotAction: 'ums.*', Resource: '*' } as const]) {
      const more = await makePolicy(boss, [statement])
      expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: more.id, user_id: member.id } })).toMatchObject({ code: 91106 })
    }
    expect(
      await refused(app, customRoles.addMember, { token: boss.token, params: { id: builtInRoleId('TENANT_ADMIN') }, body: { user_id: member.id } }),
    ).toMatchObject({ code: 91106 })
    const role = await makeRole(boss)
    expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: policy.id, role_id: role.id } })).toMatchObject({ code: 91106 })
    await give(boss, await makePolicy(boss, [allow(['nextstack.vm.get', 'nextstack.vm.list'])]), { user_id: member.id })
  })

  it('by switching the version of what somebody has already', async () => {
    const { boss, member } = await company()
    await give(admin, await makePolicy(admin, [deny('nextstack.vm.delete')]), { user_id: boss.id })
    const policy = await makePolicy(boss, [allow('nextstack.vm.list')])
    const to = { token: boss.token, params: { id: policy.id } }
    await call(app, policies.addVersion, { ...to, body: { document: document(allow('*')) } })
    await give(boss, policy, { user_id: member.id })
    expect(await refused(app, policies.setDefault, { token: boss.token, params: { id: policy.id, version: '2' } })).toMatchObject({ code: 91106 })
    expect(await refused(app, policies.addVersion, { ...to, body: { document: document(allow('*')), default: true } })).toMatchObject({ code: 91106 })
    // The refused version is not left behind.
    expect((await call(app, policies.versions, to)).total).toBe(2)
    // Of a giving and a switching at once not both.
    const fresh = await makePolicy(boss, [allow('nextstack.vm.list')])
    await call(app, policies.addVersion, { token: boss.token, params: { id: fresh.id }, body: { document: document(allow('*')) } })
    const answers = await Promise.all([
      send(app, grants.create, { token: boss.token, body: { policy_id: fresh.id, user_id: member.id } }),
      send(app, policies.setDefault, { token: boss.token, params: { id: fresh.id, version: '2' } }),
    ])
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1)
  })

  it('by taking away what denies them something', async () => {
    const { boss, member } = await company()
    const platforms = await makePolicy(admin, [deny('nextstack.vm.delete')])
    const own = await makePolicy(boss, [deny('nextstack.vm.delete')])
    const onBoss = [await give(admin, platforms, { user_id: boss.id }), await give(admin, own, { user_id: boss.id })]
    for (const { id } of onBoss) expect(await refused(app, grants.delete, { token: boss.token, params: { id } })).toMatchObject({ code: 91110 })
    expect(
      await refused(app, policies.addVersion, {
        token: boss.token,
        params: { id: own.id },
        body: { document: document(deny('nextstack.vm.create')), default: true },
      }),
    ).toMatchObject({ code: 91110 })
    // Nor from others what the platform laid on them.
    const onMember = await give(admin, await makePolicy(admin, [deny('nextstack.vm.create')]), { user_id: member.id })
    expect(await denied(boss, grants.delete, { params: { id: onMember.id } })).toBe(true)
    expect(await denied(member, vms.create, { body: {} })).toBe(true)
  })

  it('within a boundary: they give what lies in it, and no more', async () => {
    const { boss, member } = await company()
    await call(app, boundaries.setOfOrganisation, {
      token: admin.token,
      params: { id: boss.bp_id ?? '' },
      body: { policy_id: (await makePolicy(admin, [allow(['nextstack.vm.*', 'iam.*'])])).id },
    })
    const [inside, outside] = [await makePolicy(boss, [allow('nextstack.vm.start')]), await makePolicy(boss, [allow('nextstack.*')])]
    await give(boss, inside, { user_id: member.id })
    expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: outside.id, user_id: member.id } })).toMatchObject({ code: 91106 })
    // What an organisation could change itself bounds nobody.
    expect(await refused(app, boundaries.setOfUser, { token: admin.token, params: { id: boss.id }, body: { policy_id: inside.id } })).toMatchObject({
      code: 91113,
    })
  })

  it('across organisations: neither people, nor roles, nor projects of others are there', async () => {
    const [{ boss }, { boss: stranger, member: foreign }] = [await company(), await company()]
    const policy = await makePolicy(boss, [allow('nextstack.vm.list')])
    const foreignRole = await makeRole(stranger)
    const project = await app.platform.db.selectFrom('projects').select('id').where('bp_id', '=', stranger.bp_id).executeTakeFirstOrThrow()
    for (const holder of [{ user_id: foreign.id }, { role_id: foreignRole.id }, { project_id: project.id }]) {
      expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: policy.id, ...holder } })).toMatchObject({
        status: 404,
        fields: [{ field: Object.keys(holder)[0] }],
      })
    }
    expect(await refused(app, customRoles.get, { token: boss.token, params: { id: foreignRole.id } })).toMatchObject({ status: 404 })
    const role = await makeRole(boss)
    expect(await refused(app, customRoles.addMember, { token: boss.token, params: { id: role.id }, body: { user_id: foreign.id } })).toMatchObject({
      status: 404,
    })
    // Not even by the platform, which sees both.
    expect(await refused(app, grants.create, { token: admin.token, body: { policy_id: policy.id, user_id: foreign.id } })).toMatchObject({ code: 91113 })
    expect(await refused(app, customRoles.addMember, { token: admin.token, params: { id: role.id }, body: { user_id: foreign.id } })).toMatchObject({
      code: 91113,
    })
    const given = await give(stranger, await makePolicy(stranger, [allow('nextstack.vm.list')]), { user_id: foreign.id })
    expect(await refused(app, grants.delete, { token: boss.token, params: { id: given.id } })).toMatchObject({ status: 404 })
    expect((await call(app, grants.list, { token: boss.token })).items.map(({ id }) => id)).not.toContain(given.id)
  })
})

describe('roles', () => {
  it('built in are listed last, with who has them, and stay as they are', async () => {
    const { boss, member } = await company()
    const { items } = await call(app, customRoles.list, { token: boss.token, query: { page_size: 100 } })
    // Last of all, behind those that are made for the work.
    expect(items.slice(-8).every(({ built_in }) => built_in)).toBe(true)
    const tenant = builtInRoleId('TENANT')
    expect(await call(app, customRoles.get, { token: boss.token, params: { id: tenant } })).toMatchObject({ name: 'TENANT', member_count: 1, created_at: null })
    expect((await call(app, customRoles.members, { token: boss.token, params: { id: tenant } })).items).toMatchObject([{ id: member.id }])
    expect(await refused(app, customRoles.update, { token: admin.token, params: { id: tenant }, body: { name: name() } })).toMatchObject({ code: 91108 })
    expect(await refused(app, customRoles.delete, { token: admin.token, params: { id: tenant } })).toMatchObject({ code: 91108 })
  })

  it('are made under a name of their own, renamed, and deleted when nobody has them', async () => {
    const { boss, member } = await company()
    const role = await makeRole(boss)
    expect(await refused(app, customRoles.create, { token: boss.token, body: { name: role.name, base: 'TENANT' } })).toMatchObject({
      code: 3041,
      fields: [{ field: 'name' }],
    })
    const to = { token: boss.token, params: { id: role.id } }
    await call(app, customRoles.addMember, { ...to, body: { user_id: member.id } })
    await call(app, customRoles.addMember, { ...to, body: { user_id: member.id } })
    expect(await call(app, customRoles.get, to)).toMatchObject({ member_count: 1 })
    expect(await refused(app, customRoles.delete, to)).toMatchObject({ code: 91109 })
    await call(app, customRoles.removeMember, { token: boss.token, params: { id: role.id, user_id: member.id } })
    expect(await refused(app, customRoles.removeMember, { token: boss.token, params: { id: builtInRoleId('TENANT'), user_id: member.id } })).toMatchObject({
      code: 91111,
    })
    expect(await call(app, customRoles.update, { ...to, body: { name: `r-${role.name}`.slice(0, 60), description: '值班' } })).toMatchObject({
      description: '值班',
    })
    await call(app, customRoles.delete, to)
    expect(await refused(app, customRoles.get, to)).toMatchObject({ status: 404 })
  })
})

describe('explaining', () => {
  it('says who may, by which statement, and why others may not', async () => {
    const { boss, member } = await company()
    const policy = await makePolicy(boss, [deny('nextstack.vm.delete', { Sid: 'Careful', Condition: { Bool: { 'zs:MfaPresent': 'false' } } })])
    await give(boss, policy, { user_id: member.id })
    const ask = (user_id: string, context = {}) =>
      call(app, decisions.explain, { token: boss.token, body: { user_id, action: 'nextstack.vm.delete', resource: '*', context } })
    expect(await ask(member.id, { 'zs:MfaPresent': 'false' })).toMatchObject({
      outcome: 'explicitDeny',
      by: { policy_id: policy.id, policy_name: policy.name, index: 0, sid: 'Careful' },
    })
    const allowed = await ask(member.id, { 'zs:MfaPresent': 'true' })
    expect(allowed).toMatchObject({ outcome: 'allowed', by: { policy_id: 'role:TENANT' } })
    expect(allowed.statements).toContainEqual({
      policy_id: policy.id,
      policy_name: policy.name,
      index: 0,
      sid: 'Careful',
      boundary: false,
      effect: 'Deny',
      applies: false,
      other_resource: false,
      unmet: [{ operator: 'Bool', key: 'zs:MfaPresent' }],
    })
    // An id is one of their own organisation's, as it is in their requests.
    const one = randomUUID()
    await give(boss, await makePolicy(boss, [deny('nextstack.vm.stop', { Resource: `zrn:nextstack:${boss.bp_id ?? ''}:vm/${one}` })]), { user_id: member.id })
    const stop = (resource: string) => call(app, decisions.explain, { token: boss.token, body: { user_id: member.id, action: 'nextstack.vm.stop', resource } })
    expect(await stop(one)).toMatchObject({ outcome: 'explicitDeny', resource: `zrn:nextstack:${boss.bp_id ?? ''}:vm/${one}` })
    expect(await stop(`zrn:nextstack:${randomUUID()}:vm/${one}`)).toMatchObject({ outcome: 'allowed' })
    expect(await stop('*')).toMatchObject({ outcome: 'allowed', resource: `zrn:nextstack:${boss.bp_id ?? ''}:vm/*` })
    const refusedOnes = await call(app, decisions.who, { token: boss.token, query: { action: 'nextstack.vm.stop', resource: one, allowed: 'false' } })
    expect(refusedOnes.items.map(({ user }) => user.id)).toEqual([member.id])
    const who = await call(app, decisions.who, { token: boss.token, query: { action: 'ums.user.list' } })
    expect(who.total).toBe(2)
    expect(Object.fromEntries(who.items.map(({ user, outcome }) => [user.id, outcome]))).toEqual({ [boss.id]: 'allowed', [member.id]: 'role' })
    expect(await call(app, decisions.who, { token: boss.token, query: { action: 'ums.user.list', allowed: 'true' } })).toMatchObject({
      total: 1,
      items: [{ user: { id: boss.id } }],
    })
    const stranger = await makeUser(app)
    expect(await refused(app, decisions.explain, { token: boss.token, body: { user_id: stranger.id, action: 'nextstack.vm.get' } })).toMatchObject({
      status: 404,
      fields: [{ field: 'user_id' }],
    })
    expect(await refused(app, decisions.explain, { token: boss.token, body: { user_id: member.id, action: 'nextstack.vm.fly' } })).toMatchObject({
      status: 404,
      fields: [{ field: 'action' }],
    })
  })
})

describe('services and resources', () => {
  it('are those of the calls', async () => {
    const { boss } = await company()
    const { items } = await call(app, services.list, { token: boss.token })
    expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(['nextstack', 'ums', 'iam', 'ecrm']))
    const nextstack = await call(app, services.get, { token: boss.token, params: { id: 'nextstack' } })
    expect(nextstack.actions).toContainEqual(expect.objectContaining({ id: 'nextstack.vm.delete', resource_type: 'nextstack.vm', level: 'write' }))
    expect(await call(app, resourceTypes.get, { token: boss.token, params: { id: 'nextstack.vm' } })).toMatchObject({
      name: 'zrn:nextstack:{organisation}:vm/{id}',
      actions: expect.arrayContaining(['nextstack.vm.list']),
    })
    expect((await call(app, resourceTypes.list, { token: boss.token })).total).toBeGreaterThan(30)
    expect(await refused(app, services.get, { token: boss.token, params: { id: 'nothing' } })).toMatchObject({ status: 404 })
  })
})
