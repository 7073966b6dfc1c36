import { randomUUID } from 'node:crypto'
import { actionsOf, documentOf, readyMade } from '@zhisuan/contract/iam/readyMade'
import { decisions } from '@zhisuan/contract/iam/decision'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies, type Policy } from '@zhisuan/contract/iam/policy'
import { customRoles, type RoleRow } from '@zhisuan/contract/iam/role'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { invitations } from '@zhisuan/contract/ums/invitation'
import { users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { somePhone, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { codeSentTo } from '../../../testing/inbox.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { allow, deny, isDenied, keeping, policyOf, someName } from '../../../testing/policies.ts'
import { keepReadyMade } from './ready-made.ts'

let app: TestApp
let admin: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

/** A company: its administrator, and somebody of it who may nothing yet. */
const company = async () => {
  const boss = await someone(app)
  return { boss, member: await someone(app, { kind: 4, roles: [], organisation: boss.bp_id }) }
}
const policyNamed = async (by: SignedIn, name: string): Promise<Policy> => {
  const { items } = await call(app, policies.list, { token: by.token, query: { owner: 'system', page_size: 100 } })
  const found = items.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no policy ${name}`)
  return found
}
const roleNamed = async (by: SignedIn, name: string): Promise<RoleRow> => {
  const { items } = await call(app, customRoles.list, { token: by.token, query: { kind: 'system', page_size: 100 } })
  const found = items.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no role ${name}`)
  return found
}
const aKeyPair = { body: { name: 'k', public_key: '' } }

describe('what is ready-made', () => {
  it('is seen by every organisation beside its own, told by a mark, and found by it', async () => {
    const { boss } = await company()
    const own = await keeping(app).makePolicy(boss, [allow('nextstack.vm.list')])
    expect(own.system).toBe(false)
    for (const who of [boss, admin]) {
      const listed = await call(app, policies.list, { token: who.token, query: { owner: 'system', page_size: 100 } })
      expect(listed.items.map(({ name }) => name).sort()).toEqual(readyMade.map(({ name }) => name).sort())
      expect(listed.items.every(({ system, bp_id }) => system && bp_id === null)).toBe(true)
      const roles = await call(app, customRoles.list, { token: who.token, query: { kind: 'system', page_size: 100 } })
      expect(roles.items.map(({ name, base }) => [name, base]).sort()).toEqual(readyMade.map(({ name, base }) => [name, base]).sort())
      expect(roles.items.every(({ policy_count, system, built_in }) => policy_count === 1 && system && !built_in)).toBe(true)
    }
    expect((await call(app, policies.list, { token: boss.token, query: { owner: 'organisation', page_size: 100 } })).items.map(({ id }) => id)).toEqual([
      own.id,
    ])
    expect((await call(app, policies.list, { token: boss.token, query: { owner: 'platform', page_size: 100 } })).items.some(({ system }) => system)).toBe(false)
    const custom = await call(app, customRoles.list, { token: boss.token, query: { kind: 'custom', page_size: 100 } })
    expect(custom.items.some(({ system, built_in }) => system || built_in)).toBe(false)
  })

  it('says what the contract says, and takes no name away', async () => {
    const { boss } = await company()
    for (const one of readyMade) {
      const { id } = await policyNamed(boss, one.name)
      expect((await call(app, policies.get, { token: boss.token, params: { id } })).document).toEqual(documentOf(one))
    }
    expect(await keeping(app).makePolicy(admin, [allow('nextstack.vm.list')], { name: '全部只读' })).toMatchObject({ system: false, bp_id: null })
  })

  it('is changed and deleted by nobody, also not by who runs the platform', async () => {
    const { boss } = await company()
    for (const who of [boss, admin]) {
      const [policy, role] = [await policyNamed(who, '财务'), await roleNamed(who, '财务')]
      const to = { token: who.token, params: { id: policy.id } }
      const body = { document: policyOf(allow('*')) }
      expect(await refused(app, policies.update, { ...to, body: { name: someName(), description: '' } })).toMatchObject({ code: 91118 })
      expect(await refused(app, policies.delete, to)).toMatchObject({ code: 91118 })
      expect(await refused(app, policies.addVersion, { ...to, body })).toMatchObject({ code: 91118 })
      expect(await refused(app, policies.setDefault, { token: who.token, params: { id: policy.id, version: '1' } })).toMatchObject({ code: 91118 })
      expect(await refused(app, policies.deleteVersion, { token: who.token, params: { id: policy.id, version: '1' } })).toMatchObject({ code: 91118 })
      const at = { token: who.token, params: { id: role.id } }
      expect(await refused(app, customRoles.update, { ...at, body: { name: someName(), description: '' } })).toMatchObject({ code: 91118 })
      expect(await refused(app, customRoles.delete, at)).toMatchObject({ code: 91118 })
      const another = await policyNamed(who, '网络管理员')
      expect(await refused(app, grants.create, { token: who.token, body: { policy_id: another.id, role_id: role.id } })).toMatchObject({ code: 91118 })
      const { items } = await call(app, grants.list, { token: who.token, query: { role_id: role.id } })
      expect(items.map((grant) => grant.policy.name)).toEqual(['财务'])
      expect(await refused(app, grants.delete, { token: who.token, params: { id: items[0]?.id ?? '' } })).toMatchObject({ code: 91118 })
      // What nobody gave is told of the role, not among what was given.
      expect((await call(app, grants.list, { token: who.token, query: { policy_id: policy.id } })).total).toBe(0)
    }
  })

  it('is copied as any policy is: what one makes of it is one’s own', async () => {
    const { boss } = await company()
    const { document } = await call(app, policies.get, { token: boss.token, params: { id: (await policyNamed(boss, '云主机运维')).id } })
    expect(await call(app, policies.create, { token: boss.token, body: { name: someName(), document } })).toMatchObject({ system: false, bp_id: boss.bp_id })
  })
})

describe('whoever has a ready-made role', () => {
  it('may what it says and nothing else, and is told by its name why', async () => {
    const { boss, member } = await company()
    await keeping(app).addMember(boss, await roleNamed(boss, '全部只读'), member.id)
    expect(await call(app, vms.list, { token: member.token })).toMatchObject({ total: 0 })
    expect(await isDenied(app, member, keyPairs.create, aKeyPair)).toBe(true)
    const why = await call(app, decisions.explain, { token: boss.token, body: { user_id: member.id, action: 'nextstack.vm.list' } })
    expect(why).toMatchObject({ outcome: 'allowed', by: { policy_name: '全部只读', sid: 'nextstack' } })
    const whyNot = await call(app, decisions.explain, { token: boss.token, body: { user_id: member.id, action: 'nextstack.vm.create' } })
    expect(whyNot).toMatchObject({ outcome: 'implicitDeny', by: null })
    expect((await call(app, users.current, { token: member.token })).permissions).toEqual([{ role: 'TENANT' }])
  })

  it('is counted and shown to their own organisation only', async () => {
    const [{ boss, member }, { boss: stranger }] = [await company(), await company()]
    const role = await roleNamed(boss, '镜像与存储')
    await keeping(app).addMember(boss, role, member.id)
    await keeping(app).give(boss, await policyNamed(boss, '财务'), { user_id: member.id })
    const seen = async (who: SignedIn) => [
      (await call(app, customRoles.get, { token: who.token, params: { id: role.id } })).member_count,
      (await call(app, customRoles.members, { token: who.token, params: { id: role.id } })).total,
      (await policyNamed(who, '财务')).contact_count,
      (await call(app, policies.contacts, { token: who.token, params: { id: (await policyNamed(who, '财务')).id } })).total,
    ]
    expect(await seen(boss)).toEqual([1, 1, 1, 1])
    expect(await seen(stranger)).toEqual([0, 0, 0, 0])
  })

  it('who keeps people gives nothing that they may not themselves', async () => {
    const { boss, member } = await company()
    await keeping(app).addMember(boss, await roleNamed(boss, '成员与权限管理'), member.id)
    const third = await someone(app, { kind: 4, roles: [], organisation: boss.bp_id })
    expect(
      await refused(app, customRoles.addMember, { token: member.token, params: { id: (await roleNamed(member, '全部只读')).id }, body: { user_id: third.id } }),
    ).toMatchObject({ code: 91106 })
    expect(
      await refused(app, grants.create, { token: member.token, body: { policy_id: (await policyNamed(member, '网络管理员')).id, user_id: member.id } }),
    ).toMatchObject({ code: 91110 })
    expect(
      await refused(app, users.create, { token: member.token, body: { username: `n${Date.now()}`, role_ids: [(await roleNamed(member, '云主机运维')).id] } }),
    ).toMatchObject({ code: 91106 })
    expect(await refused(app, invitations.create, { token: member.token, body: { role_ids: [(await roleNamed(member, '财务')).id] } })).toMatchObject({
      code: 91106,
    })
    expect(await refused(app, invitations.create, { token: member.token, body: { role: 'TENANT_ADMIN' } })).toMatchObject({ code: 91106 })
    await keeping(app).addMember(member, await roleNamed(member, '成员与权限管理'), third.id)
  })

  it('who is kept from something does not give it by a ready-made role either', async () => {
    const { boss, member } = await company()
    await keeping(app).give(admin, await keeping(app).makePolicy(admin, [deny('nextstack.vm.create')]), { user_id: boss.id })
    expect(
      await refused(app, customRoles.addMember, { token: boss.token, params: { id: (await roleNamed(boss, '云主机运维')).id }, body: { user_id: member.id } }),
    ).toMatchObject({ code: 91106 })
    await keeping(app).addMember(boss, await roleNamed(boss, '网络管理员'), member.id)
  })

  it('keeping people does not make the last administrator one of two', async () => {
    const { boss, member } = await company()
    await keeping(app).addMember(boss, await roleNamed(boss, '成员与权限管理'), member.id)
    const second = await someone(app, { organisation: boss.bp_id })
    await call(app, users.action, { token: second.token, params: { id: boss.id }, body: { action: 'disable' } })
    expect(await refused(app, users.action, { token: member.token, params: { id: second.id }, body: { action: 'disable' } })).toMatchObject({ code: 91117 })
  })
})

describe('somebody new', () => {
  it('is made with the roles that were chosen, and with no others', async () => {
    const { boss } = await company()
    const role_ids = [(await roleNamed(boss, '全部只读')).id, (await roleNamed(boss, '财务')).id]
    const made = await call(app, users.create, { token: boss.token, body: { username: `n${Date.now()}`, role_ids } })
    expect(made.user).toMatchObject({ kind: 4, bp_id: boss.bp_id, permissions: [{ role: 'TENANT' }] })
    const why = await call(app, decisions.explain, { token: boss.token, body: { user_id: made.user.id, action: 'nextstack.vm.create' } })
    expect(why.outcome).toBe('implicitDeny')
    const pay = await call(app, decisions.explain, { token: boss.token, body: { user_id: made.user.id, action: 'bill.topup.pay' } })
    expect(pay).toMatchObject({ outcome: 'allowed', by: { policy_name: '财务' } })
  })

  it('is invited to them, and has them', async () => {
    const { boss } = await company()
    const role = await roleNamed(boss, '容器与应用运维')
    const made = await call(app, invitations.create, { token: boss.token, body: { role_ids: [role.id] } })
    expect(made.roles).toEqual([{ id: role.id, name: role.name }])
    expect(await call(app, invitations.look, { params: { token: made.token } })).toMatchObject({ roles: [role.name] })
    const phone = somePhone()
    await call(app, invitations.code, { params: { token: made.token, phone } })
    const username = `i${Date.now()}`
    const password = 'Correct-horse-1'
    const { id } = await call(app, invitations.accept, {
      params: { token: made.token },
      body: { username, phone, code: await codeSentTo(app, phone), password },
    })
    expect((await call(app, customRoles.members, { token: boss.token, params: { id: role.id } })).items.map((one) => one.id)).toEqual([id])
    const member = await signIn(app, { name: username, password })
    expect(await isDenied(app, member, keyPairs.create, aKeyPair)).toBe(true)
    expect(await isDenied(app, member, vms.list)).toBe(true)
  })

  it('gets no role of another organisation, and no built-in one by its id', async () => {
    const [{ boss }, { boss: stranger }] = [await company(), await company()]
    const theirs = await keeping(app).makeRole(stranger)
    for (const id of [theirs.id, randomUUID()]) {
      expect(await refused(app, invitations.create, { token: boss.token, body: { role_ids: [id] } })).toMatchObject({ status: 404 })
      expect(await refused(app, users.create, { token: boss.token, body: { username: `n${Date.now()}`, role_ids: [id] } })).toMatchObject({ status: 404 })
    }
    expect(await refused(app, invitations.create, { token: admin.token, body: { bp_id: boss.bp_id, role_ids: [theirs.id] } })).toMatchObject({ code: 91113 })
  })
})

describe('a start of another version', () => {
  it('makes a version of what says something else, keeps what people have of it, and changes nothing twice', async () => {
    const { boss, member } = await company()
    await keeping(app).addMember(boss, await roleNamed(boss, '节点运维'), member.id)
    const told: unknown[] = []
    const start = (made: typeof readyMade) =>
      keepReadyMade(
        app.platform.db,
        async (tx) => {
          told.push(tx)
        },
        made,
      )
    await start(readyMade)
    expect(told).toHaveLength(0)
    const [first] = readyMade.filter(({ key }) => key === 'nodes')
    if (first === undefined) throw new Error('no nodes')
    for (let at = 0; at < 6; at++) await start([{ ...first, name: `节点运维${at}`, all: at % 2 === 0 ? [] : first.all }])
    expect(told).toHaveLength(6)
    const policy = await policyNamed(boss, '节点运维5')
    expect(policy).toMatchObject({ default_version: 7, version_count: 5 })
    expect((await call(app, policies.get, { token: boss.token, params: { id: policy.id } })).document.Statement.flatMap(({ Action }) => Action)).toEqual(
      actionsOf(first),
    )
    expect((await call(app, customRoles.members, { token: boss.token, params: { id: (await roleNamed(boss, '节点运维5')).id } })).total).toBe(1)
    await start(readyMade)
  })
})
