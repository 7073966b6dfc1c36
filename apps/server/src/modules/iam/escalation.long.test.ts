import { boundaries, grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { customRoles } from '@zhisuan/contract/iam/role'
import { configs } from '@zhisuan/contract/sys/sys'
import { invitations } from '@zhisuan/contract/ums/invitation'
import { users } from '@zhisuan/contract/ums/user'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { somePhone, testApp, type TestApp } from '../../testing/app.ts'
import { call, refused, send, type AnyInput } from '../../testing/call.ts'
import { codeSentTo } from '../../testing/inbox.ts'
import { waitingForLocks } from '../../testing/locks.ts'
import { makeUser, someone, type Person, type SignedIn } from '../../testing/people.ts'
import { allow, deny, isDenied, keeping, policyOf, someName } from '../../testing/policies.ts'
import type { Call } from '@zhisuan/contract/define'
import { builtInRoleId } from './iam.migrations.ts'

type Someone = Person & SignedIn
let app: TestApp
/** Kind 0, beyond policies; and a platform administrator, who is not. */
let system: Someone
let admin: Someone
beforeAll(async () => {
  app = await testApp()
  system = await someone(app, { kind: 0 })
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const by = () => keeping(app)
const company = async () => {
  const boss = await someone(app)
  return { boss, member: await someone(app, { kind: 4, organisation: boss.bp_id }) }
}
const projectOf = async (bpId: string | null): Promise<{ id: string }> =>
  app.platform.db.selectFrom('projects').select('id').where('bp_id', '=', bpId).executeTakeFirstOrThrow()

const tables = [
  'policies',
  'policy_versions',
  'policy_grants',
  'policy_boundaries',
  'roles',
  'role_members',
  'user_roles',
  'projects',
  'project_members',
  'users',
  'invitations',
] as const
const allThereIs = async (): Promise<string> => {
  const found: string[] = []
  for (const table of tables) {
    const { rows } = await sql<{ rows: string | null }>`select string_agg(t::text, E'\n' order by t::text) as rows from ${sql.table(table)} as t`.execute(
      app.platform.db,
    )
    found.push(`${table}: ${rows[0]?.rows ?? ''}`)
  }
  return found.join('\n')
}
/** Asked for, refused with this code, and nothing is other than before. */
const attempt = async (who: SignedIn, what: Call, input: AnyInput, code: number): Promise<void> => {
  const before = await allThereIs()
  expect(await refused(app, what, { token: who.token, ...input }), what.id).toMatchObject({ code })
  expect(await allThereIs(), what.id).toBe(before)
}

describe('nobody gives themselves more', () => {
  it('by a grant to themselves, whether they keep an organisation or the platform', async () => {
    const { boss } = await company()
    const wide = await by().makePolicy(boss, [allow('*')])
    const platforms = await by().makePolicy(admin, [allow('*')])
    await attempt(boss, grants.create, { body: { policy_id: wide.id, user_id: boss.id } }, 91110)
    await attempt(admin, grants.create, { body: { policy_id: platforms.id, user_id: admin.id } }, 91110)
  })

  it('by a grant to a role or a project that they are in themselves', async () => {
    const { boss } = await company()
    const limited = await by().makePolicy(system, [deny('nextstack.vm.delete')])
    await by().give(system, limited, { user_id: boss.id })
    const role = await by().makeRole(boss, { base: 'TENANT_ADMIN' })
    await by().addMember(system, role, boss.id)
    const project = await projectOf(boss.bp_id)
    await call(app, keptProjects.addMember, { token: system.token, params: { id: project.id }, body: { user_id: boss.id } })
    const wide = await by().makePolicy(boss, [allow('nextstack.vm.delete')])
    await attempt(boss, grants.create, { body: { policy_id: wide.id, role_id: role.id } }, 91106)
    await attempt(boss, grants.create, { body: { policy_id: wide.id, project_id: project.id } }, 91106)
    await attempt(boss, grants.create, { body: { policy_id: wide.id, role_id: builtInRoleId('TENANT_ADMIN') } }, 91108)
  })

  it('by joining a role or a project that has more', async () => {
    const { boss } = await company()
    await by().give(system, await by().makePolicy(system, [deny('nextstack.vm.delete')]), { user_id: boss.id })
    const wide = await by().makePolicy(admin, [allow('nextstack.vm.delete')])
    const role = await by().makeRole(admin, { bp_id: boss.bp_id })
    await by().give(admin, wide, { role_id: role.id })
    const project = await call(app, keptProjects.create, { token: boss.token, body: { name: '训练', key: 'train' } })
    await by().give(admin, wide, { project_id: project.id })
    await attempt(boss, customRoles.addMember, { params: { id: role.id }, body: { user_id: boss.id } }, 91110)
    await attempt(boss, keptProjects.addMember, { params: { id: project.id }, body: { user_id: boss.id } }, 91106)
    await attempt(admin, customRoles.addMember, { params: { id: builtInRoleId('OPERATION_SUPPORTER') }, body: { user_id: admin.id } }, 91110)
  })

  it('by another version of a policy that they have: of their own making, by a role, or as a platform administrator', async () => {
    const { boss } = await company()
    const own = await by().makePolicy(boss, [allow('nextstack.vm.list')])
    await call(app, policies.addVersion, { token: boss.token, params: { id: own.id }, body: { document: policyOf(allow('*')) } })
    const role = await by().makeRole(boss)
    await by().addMember(system, role, boss.id)
    await by().give(system, own, { role_id: role.id })
    await attempt(boss, policies.setDefault, { params: { id: own.id, version: '2' } }, 91110)
    await attempt(boss, policies.addVersion, { params: { id: own.id }, body: { document: policyOf(allow('*')), default: true } }, 91110)
    const limiting = await by().makePolicy(admin, [deny('sys.config.set')])
    const limited = await someone(app, { kind: 1 })
    await by().give(system, limiting, { user_id: limited.id })
    await attempt(limited, policies.addVersion, { params: { id: limiting.id }, body: { document: policyOf(allow('sys.config.list')), default: true } }, 91110)
  })

  it('by disabling, deleting or taking back what denies them something', async () => {
    const { boss, member } = await company()
    const denying = await by().makePolicy(boss, [deny('nextstack.vm.delete')])
    const given = await by().give(system, denying, { user_id: boss.id })
    await attempt(boss, grants.delete, { params: { id: given.id } }, 91110)
    await attempt(boss, policies.delete, { params: { id: denying.id } }, 91103)
    await attempt(boss, policies.addVersion, { params: { id: denying.id }, body: { document: policyOf(allow('nextstack.vm.list')), default: true } }, 91110)
    // Nor may somebody else what they may not, where they take a denial from that one.
    const onMember = await by().give(system, await by().makePolicy(boss, [deny('nextstack.vm.delete')]), { user_id: member.id })
    await attempt(boss, grants.delete, { params: { id: onMember.id } }, 91106)
    await attempt(
      boss,
      policies.addVersion,
      { params: { id: onMember.policy.id }, body: { document: policyOf(allow('nextstack.vm.list')), default: true } },
      91106,
    )
    // A denial that stays is no obstacle to another.
    await call(app, policies.addVersion, {
      token: boss.token,
      params: { id: onMember.policy.id },
      body: { document: policyOf(deny('nextstack.vm.delete'), deny('nextstack.vm.rebuild')), default: true },
    })
    expect(await isDenied(app, member, vms.delete, { params: { id: boss.id } })).toBe(true)
    // What the platform laid on a role of their own organisation stays with who is in it.
    const role = await by().makeRole(boss)
    await by().give(admin, await by().makePolicy(admin, [deny('nextstack.vm.start')]), { role_id: role.id })
    await by().addMember(boss, role, member.id)
    await attempt(boss, customRoles.removeMember, { params: { id: role.id, user_id: member.id } }, 3000)
    const limited = await someone(app, { kind: 1 })
    const onAdmin = await by().give(system, await by().makePolicy(admin, [deny('sys.config.set')]), { user_id: limited.id })
    await attempt(limited, grants.delete, { params: { id: onAdmin.id } }, 91110)
    expect(await isDenied(app, limited, configs.set, { body: { key: 'title', value: '智算' } })).toBe(true)
  })

  it('by their boundary: removed, replaced, made wider, or the one of somebody wider', async () => {
    const { boss, member } = await company()
    const narrow = await by().makePolicy(admin, [allow(['nextstack.vm.*', 'iam.*', 'ums.*'])])
    const wide = await by().makePolicy(admin, [allow('*')])
    await by().bound(admin, { user_id: boss.id }, narrow)
    await by().bound(admin, { user_id: member.id }, narrow)
    for (const [what, id] of [
      [boundaries.setOfUser, boss.id],
      [boundaries.setOfUser, member.id],
      [boundaries.setOfOrganisation, boss.bp_id ?? ''],
    ] as const) {
      for (const policy_id of [null, wide.id]) await attempt(boss, what, { params: { id }, body: { policy_id } }, 3000)
    }
    await attempt(boss, policies.addVersion, { params: { id: narrow.id }, body: { document: policyOf(allow('*')), default: true } }, 3000)
    // A platform administrator within one: neither their own, nor that of an accomplice, nor the policy itself.
    const limited = await someone(app, { kind: 1 })
    const accomplice = await makeUser(app, { kind: 1 })
    const within = await by().makePolicy(admin, [allow(['iam.*', 'ums.*'])])
    for (const { id } of [limited, accomplice]) await by().bound(admin, { user_id: id }, within)
    for (const policy_id of [null, wide.id]) {
      await attempt(limited, boundaries.setOfUser, { params: { id: limited.id }, body: { policy_id } }, 91110)
      await attempt(limited, boundaries.setOfUser, { params: { id: accomplice.id }, body: { policy_id } }, 91106)
    }
    await call(app, policies.addVersion, { token: admin.token, params: { id: within.id }, body: { document: policyOf(allow('*')) } })
    await attempt(limited, policies.setDefault, { params: { id: within.id, version: '2' } }, 91110)
    // To narrow somebody is no escalation.
    await by().bound(limited, { user_id: accomplice.id }, await by().makePolicy(admin, [allow('iam.*')]))
  })

  it('by moving to another organisation, or by being another kind', async () => {
    const [{ boss }, { boss: other }] = [await company(), await company()]
    await call(app, users.updateCurrent, {
      token: boss.token,
      body: { nickname: '我', description: '', bp_id: other.bp_id, kind: 0, roles: ['ADMIN'] } as never,
    })
    await call(app, users.update, {
      token: boss.token,
      params: { id: boss.id },
      body: { nickname: '我', description: '', phone: boss.phone, email: boss.email, bp_id: other.bp_id, kind: 0 } as never,
    })
    expect(await call(app, users.current, { token: boss.token })).toMatchObject({ bp_id: boss.bp_id, kind: 2, permissions: [{ role: 'TENANT_ADMIN' }] })
    const foreignRole = await by().makeRole(other)
    await attempt(boss, customRoles.addMember, { params: { id: foreignRole.id }, body: { user_id: boss.id } }, 90006)
    await attempt(boss, keptProjects.addMember, { params: { id: (await projectOf(other.bp_id)).id }, body: { user_id: boss.id } }, 90006)
  })

  it('by a name that reads as a pattern: what stands for a variable is none', async () => {
    const { boss } = await company()
    for (const username of ['*', 'a*', '?'.repeat(5), '${*}', '${zs:UserName}', 'a:b/c']) await attempt(boss, users.create, { body: { username } }, 90001)
    // Not even where the database had such a name.
    const star = await someone(app, { kind: 4, roles: [], organisation: boss.bp_id })
    await app.platform.db.updateTable('users').set({ name: '*' }).where('id', '=', star.id).execute()
    const role = await by().makeRole(admin, { bp_id: boss.bp_id })
    // oxlint-disable-next-line no-template-curly-in-string
    await by().give(
      admin,
      await by().makePolicy(admin, [
        allow('nextstack.vm.list', { Condition: { StringLike: { 'zs:AuthenticatedBy': '${zs:UserName}' } } }),
        allow('nextstack.vm.get', { Resource: 'zrn:nextstack:*:vm/${zs:UserName}' }),
      ]),
      { role_id: role.id },
    )
    await by().addMember(admin, role, star.id)
    expect(await isDenied(app, star, vms.list)).toBe(true)
    expect(await isDenied(app, star, vms.get, { params: { id: boss.id } })).toBe(true)
  })
})

describe('nobody gets more by way of others', () => {
  it('whom they make or invite with a role that has more', async () => {
    const { boss } = await company()
    for (const roles of [['ADMIN'], ['OPERATION_SUPPORTER']])
      await attempt(boss, users.create, { body: { username: someName(), roles } }, roles[0] === 'ADMIN' ? 91014 : 91107)
    await attempt(boss, users.create, { body: { username: someName(), kind: 1 } }, 91107)
    await attempt(boss, users.create, { body: { username: someName(), kind: 0 } }, 90001)
    await attempt(boss, invitations.create, { body: { role: 'ADMIN' } }, 90001)
    await attempt(boss, customRoles.create, { body: { name: someName(), base: 'ADMIN' } }, 91107)
    await by().give(admin, await by().makePolicy(admin, [deny('nextstack.vm.delete')]), { user_id: boss.id })
    for (const role of ['TENANT', 'TENANT_ADMIN'] as const) {
      await attempt(boss, users.create, { body: { username: someName(), roles: [role] } }, 91106)
      await attempt(boss, invitations.create, { body: { role } }, 91106)
    }
  })

  it('who has a role that they themselves have not, by a policy that reaches what that role may', async () => {
    const { boss } = await company()
    const role = await by().makeRole(admin, { base: 'ADMIN', bp_id: boss.bp_id })
    await by().give(admin, await by().makePolicy(admin, [allow('sys.config.list')]), { role_id: role.id })
    const accomplice = await someone(app, { kind: 4, roles: ['TENANT'], organisation: boss.bp_id })
    await by().addMember(admin, role, accomplice.id)
    const own = await by().makePolicy(boss, [allow('sys.*')])
    const platforms = await by().makePolicy(admin, [allow('*')])
    for (const policy_id of [own.id, platforms.id]) await attempt(boss, grants.create, { body: { policy_id, user_id: accomplice.id } }, 91106)
    // Nor through a role or a project that this one is in, before or after.
    const shared = await by().makeRole(boss)
    await by().addMember(boss, shared, accomplice.id)
    await attempt(boss, grants.create, { body: { policy_id: own.id, role_id: shared.id } }, 91106)
    const project = await call(app, keptProjects.create, { token: boss.token, body: { name: '训练', key: 'train' } })
    await by().give(boss, own, { project_id: project.id })
    await attempt(boss, keptProjects.addMember, { params: { id: project.id }, body: { user_id: accomplice.id } }, 91106)
    // Nor by the version of what they have already.
    const harmless = await by().makePolicy(boss, [allow('nextstack.vm.list')])
    await by().give(boss, harmless, { user_id: accomplice.id })
    await attempt(boss, policies.addVersion, { params: { id: harmless.id }, body: { document: policyOf(allow('*')), default: true } }, 91106)
    expect(await isDenied(app, accomplice, configs.set, { body: { key: 'title', value: '智算' } })).toBe(true)
  })

  it('whose password, phone or second factor they set', async () => {
    const { boss, member } = await company()
    const wider = await makeUser(app, { kind: 4, roles: ['TENANT'], organisation: boss.bp_id })
    const role = await by().makeRole(admin, { base: 'ADMIN', bp_id: boss.bp_id })
    await by().give(admin, await by().makePolicy(admin, [allow('sys.config.*')]), { role_id: role.id })
    await by().addMember(admin, role, wider.id)
    for (const action of ['resetPassword', 'resetSecondFactor']) await attempt(boss, users.action, { params: { id: wider.id }, body: { action } }, 91106)
    await attempt(boss, users.update, { params: { id: wider.id }, body: { nickname: '', description: '', phone: somePhone(), email: wider.email } }, 91106)
    expect((await send(app, users.action, { token: boss.token, params: { id: member.id }, body: { action: 'resetPassword' } })).status).toBe(200)
    const limited = await someone(app, { kind: 1 })
    await by().give(system, await by().makePolicy(admin, [deny('sys.config.set')]), { user_id: limited.id })
    await attempt(limited, users.action, { params: { id: admin.id }, body: { action: 'resetPassword' } }, 91106)
  })

  it('who set the platform up: they are out of reach', async () => {
    for (const action of ['resetPassword', 'disable', 'resetSecondFactor'])
      await attempt(admin, users.action, { params: { id: system.id }, body: { action } }, 3000)
    await attempt(admin, users.update, { params: { id: system.id }, body: { nickname: '', description: '', phone: somePhone(), email: null } }, 3000)
    await attempt(admin, users.delete, { params: { id: system.id } }, 3000)
    const { boss } = await company()
    await attempt(boss, users.action, { params: { id: system.id }, body: { action: 'resetPassword' } }, 90006)
  })

  it('who comes by a link that was made before something was taken from them', async () => {
    const { boss } = await company()
    const { token } = await call(app, invitations.create, { token: boss.token, body: { role: 'TENANT_ADMIN' } })
    await by().give(admin, await by().makePolicy(admin, [deny('nextstack.vm.delete')]), { user_id: boss.id })
    const phone = somePhone()
    await call(app, invitations.code, { params: { token, phone } })
    const body = { username: someName(), phone, code: await codeSentTo(app, phone), password: 'Mine-alone-7' }
    const before = await allThereIs()
    expect(await refused(app, invitations.accept, { params: { token }, body })).toMatchObject({ code: 1183 })
    expect(await allThereIs()).toBe(before)
  })
})

describe('what is taken away is gone on every server', () => {
  let second: TestApp
  beforeAll(async () => {
    second = await testApp({ DATABASE_URL: app.databaseUrl })
  })
  afterAll(() => second.close())

  const statusOf = async (on: TestApp, who: SignedIn) => (await send(on, vms.list, { token: who.token })).status

  it('for every request that begins after the answer, a hundred times', async () => {
    const { member } = await company()
    const denying = await by().makePolicy(admin, [deny('nextstack.vm.list')])
    for (let time = 0; time < 100; time++) {
      const [changes, uses] = time % 2 === 0 ? [app, second] : [second, app]
      // Remembered there as one who may.
      expect(await statusOf(uses, member), String(time)).toBe(200)
      const busy = Promise.all(Array.from({ length: 4 }, () => statusOf(uses, member)))
      const given = await keeping(changes).give(admin, denying, { user_id: member.id })
      expect(await statusOf(uses, member), String(time)).toBe(403)
      await busy
      await call(changes, grants.delete, { token: admin.token, params: { id: given.id } })
    }
  })

  it('whatever changes at once: a grant taken back on one, a version switched on the other', async () => {
    const { boss } = await company()
    const member = await someone(app, { kind: 4, roles: [], organisation: boss.bp_id })
    const role = await by().makeRole(admin, { bp_id: boss.bp_id })
    await by().addMember(admin, role, member.id)
    const policy = await by().makePolicy(admin, [allow('nextstack.vm.list')])
    await call(app, policies.addVersion, { token: admin.token, params: { id: policy.id }, body: { document: policyOf(allow('nextstack.vm.*')) } })
    for (let time = 0; time < 10; time++) {
      const given = await by().give(admin, policy, { role_id: role.id })
      expect([await statusOf(app, member), await statusOf(second, member)]).toEqual([200, 200])
      const answers = await Promise.all([
        send(app, grants.delete, { token: admin.token, params: { id: given.id } }),
        send(second, policies.setDefault, { token: admin.token, params: { id: policy.id, version: String((time % 2) + 1) } }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([204, 200])
      expect([await statusOf(app, member), await statusOf(second, member)]).toEqual([403, 403])
    }
  })

  it('also after a long listing that had begun before, which ends as it began', async () => {
    const { member } = await company()
    const denying = await by().makePolicy(admin, [deny('nextstack.vm.list')])
    await statusOf(second, member)
    // Nobody reads the table as long as this is held.
    const lock = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = app.platform.db.transaction().execute(async (tx) => {
      await sql`lock table vms in access exclusive mode`.execute(tx)
      held.resolve()
      await lock.promise
    })
    await held.promise
    const listing = statusOf(second, member)
    await expect.poll(() => waitingForLocks(app, '%"vms"%')).toBeGreaterThan(0)
    await by().give(admin, denying, { user_id: member.id })
    expect(await statusOf(second, member)).toBe(403)
    lock.resolve()
    await holding
    expect(await listing).toBe(200)
    expect(await statusOf(second, member)).toBe(403)
  })
})
