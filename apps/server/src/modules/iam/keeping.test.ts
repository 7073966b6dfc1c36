import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput, QueryInput } from '@zhisuan/contract/define'
import { boundaries, grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { customRoles } from '@zhisuan/contract/iam/role'
import { projects } from '@zhisuan/contract/issue/project'
import { securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { configs } from '@zhisuan/contract/sys/sys'
import { auth } from '@zhisuan/contract/ums/auth'
import { invitations } from '@zhisuan/contract/ums/invitation'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { someIp, somePhone, testApp, type TestApp } from '../../testing/app.ts'
import { builtInRoleId } from './iam.migrations.ts'
import { call, refused, send } from '../../testing/call.ts'
import { codeSentTo } from '../../testing/inbox.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'

let app: TestApp
let admin: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const name = () => `n-${randomUUID()}`
const makeUserBy = (by: SignedIn, more: Partial<BodyInput<typeof users.create>> = {}) =>
  call(app, users.create, { token: by.token, body: { username: name(), ...more } })
const act = (by: SignedIn, id: string, action: BodyInput<typeof users.action>['action']) =>
  call(app, users.action, { token: by.token, params: { id }, body: { action } })
const alive = async (who: SignedIn): Promise<boolean> => (await send(app, users.current, { token: who.token })).status === 200
const denyDeletion = async (who: Person): Promise<void> => {
  const policy = await call(app, policies.create, {
    token: admin.token,
    body: { name: name(), document: { Version: policyLanguage, Statement: [{ Effect: 'Deny', Action: 'nextstack.vm.delete', Resource: '*' }] } },
  })
  await call(app, grants.create, { token: admin.token, body: { policy_id: policy.id, user_id: who.id } })
}

describe('users', () => {
  it('are made with a one-time password, which they change at once', async () => {
    const boss = await someone(app)
    const phone = somePhone()
    const { user, one_time_password } = await makeUserBy(boss, { phone, nickname: '小李' })
    expect(user).toMatchObject({ kind: 4, bp_id: boss.bp_id, status: 'active', nickname: '小李', phone, permissions: [{ role: 'TENANT' }] })
    const { token } = await signIn(app, { name: user.name, password: one_time_password })
    expect(await refused(app, projects.list, { token })).toMatchObject({ code: 91001 })
    await call(app, users.changePassword, { token, body: { old_password: one_time_password, password: 'Mine-alone-7' } })
    expect((await call(app, projects.list, { token })).items.map((project) => project.name)).toEqual(['default'])
    expect(await call(app, users.get, { token: boss.token, params: { id: user.id } })).toMatchObject({
      id: user.id,
      must_change_password: false,
      frozen_until: null,
      attacked_at: null,
      projects: [{ name: 'default' }],
      built_in_roles: ['TENANT'],
      custom_roles: [],
      boundary: null,
    })
    expect(await refused(app, users.create, { token: boss.token, body: { username: user.name } })).toMatchObject({
      code: 91002,
      fields: [{ field: 'username' }],
    })
    expect(await refused(app, users.create, { token: boss.token, body: { username: name(), phone } })).toMatchObject({
      code: 91003,
      fields: [{ field: 'phone' }],
    })
    expect(await refused(app, users.create, { token: boss.token, body: { username: '13912345678' } })).toMatchObject({ code: 1111 })
  })

  it('belong where their kind says', async () => {
    const boss = await someone(app)
    expect((await makeUserBy(admin, { kind: 1 })).user).toMatchObject({ kind: 1, bp_id: null, permissions: [{ role: 'ADMIN' }] })
    expect((await makeUserBy(admin, { kind: 2, bp_id: boss.bp_id })).user).toMatchObject({
      kind: 2,
      bp_id: boss.bp_id,
      permissions: [{ role: 'TENANT_ADMIN' }],
    })
    expect((await makeUserBy(admin, { kind: 4, roles: ['PROVIDER'] })).user).toMatchObject({ bp_id: null, permissions: [{ role: 'PROVIDER' }] })
    const refusal = (body: Partial<BodyInput<typeof users.create>>, by = admin) =>
      refused(app, users.create, { token: by.token, body: { username: name(), ...body } })
    expect(await refusal({ kind: 1, bp_id: boss.bp_id })).toMatchObject({ code: 91014, fields: [{ field: 'bp_id' }] })
    expect(await refusal({ kind: 4 })).toMatchObject({ code: 91014 })
    expect(await refusal({ kind: 4, bp_id: boss.bp_id, roles: ['ADMIN'] })).toMatchObject({ code: 91014, fields: [{ field: 'roles' }] })
    expect(await refusal({ kind: 4, bp_id: randomUUID() })).toMatchObject({ status: 404, fields: [{ field: 'bp_id' }] })
    // A tenant administrator makes their own people, and nobody else's.
    expect((await makeUserBy(boss, {})).user.bp_id).toBe(boss.bp_id)
    expect(await refusal({ bp_id: (await someone(app)).bp_id }, boss)).toMatchObject({ status: 404, fields: [{ field: 'bp_id' }] })
    expect(await refusal({ kind: 1 }, boss)).toMatchObject({ code: 91107, fields: [{ field: 'kind' }] })
    expect(await refusal({ roles: ['ADMIN'] }, boss)).toMatchObject({ code: 91014 })
    expect(await refusal({ roles: ['OPERATION_SUPPORTER'] }, boss)).toMatchObject({ code: 91107, fields: [{ field: 'roles' }] })
  })

  it('are found by what they may be, and show what bounds them', async () => {
    const boss = await someone(app)
    const [member, supporter] = [await someone(app, { kind: 4, organisation: boss.bp_id }), await someone(app, { kind: 4, organisation: boss.bp_id })]
    const role = await call(app, customRoles.create, { token: admin.token, body: { name: name(), base: 'OPERATION_SUPPORTER' } })
    await call(app, customRoles.addMember, { token: admin.token, params: { id: role.id }, body: { user_id: supporter.id } })
    const found = async (filter: QueryInput<typeof users.list>) =>
      (await call(app, users.list, { token: boss.token, query: filter })).items.map(({ id }) => id).toSorted()
    expect(await found({ role: 'TENANT_ADMIN' })).toEqual([boss.id])
    expect(await found({ role: 'TENANT' })).toEqual([member.id, supporter.id].toSorted())
    expect(await found({ role: 'OPERATION_SUPPORTER' })).toEqual([supporter.id])
    const policy = await call(app, policies.create, {
      token: admin.token,
      body: { name: name(), document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] } },
    })
    await call(app, boundaries.setOfUser, { token: admin.token, params: { id: member.id }, body: { policy_id: policy.id } })
    expect((await call(app, users.get, { token: boss.token, params: { id: member.id } })).boundary).toEqual({ id: policy.id, name: policy.name })
    expect(await call(app, users.get, { token: boss.token, params: { id: supporter.id } })).toMatchObject({
      built_in_roles: ['TENANT'],
      custom_roles: [{ id: role.id }],
      boundary: null,
    })
  })

  it('are disabled, signed out, unfrozen and given a new password at once', async () => {
    const boss = await someone(app)
    const member = await someone(app, { kind: 4, organisation: boss.bp_id })
    await act(boss, member.id, 'signOut')
    expect(await alive(member)).toBe(false)
    const again = { ...member, ...(await signIn(app, member)) }
    expect((await act(boss, member.id, 'disable')).user.status).toBe('disabled')
    expect(await alive(again)).toBe(false)
    await expect(signIn(app, member)).rejects.toThrow('1135')
    await act(boss, member.id, 'enable')
    const { one_time_password } = await act(boss, member.id, 'resetPassword')
    await expect(signIn(app, member)).rejects.toThrow('1101')
    expect((await signIn(app, { name: member.name, password: one_time_password ?? '' })).token).toBeTruthy()
    const ip = someIp()
    for (let wrong = 0; wrong < 5; wrong++) await refused(app, auth.password, { ip, body: { username: member.name, password: 'Wrong-wrong-1' } })
    expect((await call(app, users.get, { token: boss.token, params: { id: member.id } })).frozen_until).not.toBeNull()
    await act(boss, member.id, 'unfreeze')
    expect((await call(app, auth.password, { ip, body: { username: member.name, password: one_time_password ?? '' } })).token).toBeTruthy()
  })

  it('who registered where that takes an approval are let in by one', async () => {
    const pending = await makeUser(app, { kind: 3, status: 'pending' })
    await expect(signIn(app, pending)).rejects.toThrow('1134')
    expect((await act(admin, pending.id, 'enable')).user.status).toBe('active')
    expect((await signIn(app, pending)).token).toBeTruthy()
  })

  it('show where they are signed in, and one session ends alone', async () => {
    const boss = await someone(app)
    const member = await someone(app, { kind: 4, organisation: boss.bp_id })
    const second = { ...member, ...(await signIn(app, member)) }
    const own = await call(app, users.ownSessions, { token: second.token })
    expect(own.items.map(({ current }) => current).sort()).toEqual([false, true])
    const kept = await call(app, users.sessions, { token: boss.token, params: { id: member.id } })
    expect(kept.total).toBe(2)
    const other = own.items.find(({ current }) => !current)?.id ?? ''
    await call(app, users.endOwnSession, { token: second.token, params: { session_id: other } })
    expect([await alive(member), await alive(second)]).toEqual([false, true])
    await call(app, users.endSession, { token: boss.token, params: { id: member.id, session_id: own.items.find(({ current }) => current)?.id ?? '' } })
    expect(await alive(second)).toBe(false)
    const stranger = await someone(app)
    const foreign = (await call(app, users.ownSessions, { token: stranger.token })).items[0]?.id ?? ''
    expect(await refused(app, users.endOwnSession, { token: boss.token, params: { session_id: foreign } })).toMatchObject({ status: 404 })
    expect(await refused(app, users.endSession, { token: boss.token, params: { id: boss.id, session_id: foreign } })).toMatchObject({ status: 404 })
    expect(await alive(stranger)).toBe(true)
  })

  it('of another organisation do not exist', async () => {
    const [boss, stranger] = [await someone(app), await someone(app)]
    const to = { token: boss.token, params: { id: stranger.id } }
    for (const [what, input] of [
      [users.get, {}],
      [users.sessions, {}],
      [users.update, { body: { nickname: '', description: '', phone: null, email: null } }],
      [users.action, { body: { action: 'disable' } }],
      [users.delete, {}],
    ] as const) {
      expect((await send(app, what, { ...to, ...input })).status, what.id).toBe(404)
    }
    expect(await alive(stranger)).toBe(true)
  })

  it('of an organisation keep one administrator: nobody ends themselves, and of two who end each other one stays', async () => {
    const role = builtInRoleId('TENANT_ADMIN')
    const end = {
      disable: (by: SignedIn, id: string) => send(app, users.action, { token: by.token, params: { id }, body: { action: 'disable' } }),
      delete: (by: SignedIn, id: string) => send(app, users.delete, { token: by.token, params: { id } }),
      'take the role from': (by: SignedIn, user_id: string) => send(app, customRoles.removeMember, { token: by.token, params: { id: role, user_id } }),
    }
    for (const [how, does] of Object.entries(end)) {
      const one = await someone(app)
      const two = await someone(app, { kind: 2, roles: ['TENANT', 'TENANT_ADMIN'], organisation: one.bp_id })
      await call(app, customRoles.addMember, { token: admin.token, params: { id: builtInRoleId('TENANT') }, body: { user_id: one.id } })
      expect((await does(one, one.id)).status, `${how} oneself`).toBeGreaterThanOrEqual(400)
      await Promise.all([does(one, two.id), does(two, one.id)])
      const left = [one, two].map(async (who) => (await send(app, users.list, { token: who.token })).status === 200)
      expect((await Promise.all(left)).filter(Boolean), `two ${how} each other`).toHaveLength(1)
    }
  })

  it('nobody takes over who may more than they', async () => {
    const boss = await someone(app)
    const peer = await makeUser(app, { kind: 2, organisation: boss.bp_id })
    await denyDeletion(boss)
    expect(await refused(app, users.action, { token: boss.token, params: { id: peer.id }, body: { action: 'resetPassword' } })).toMatchObject({ code: 91106 })
    expect(
      await refused(app, users.update, {
        token: boss.token,
        params: { id: peer.id },
        body: { nickname: '', description: '', phone: somePhone(), email: null },
      }),
    ).toMatchObject({ code: 91106 })
    expect(await refused(app, users.create, { token: boss.token, body: { username: name() } })).toMatchObject({ code: 91106 })
    expect(await refused(app, invitations.create, { token: boss.token, body: {} })).toMatchObject({ code: 91106 })
    // Nor themselves, nor who set the platform up.
    expect(await refused(app, users.action, { token: boss.token, params: { id: boss.id }, body: { action: 'enable' } })).toMatchObject({ code: 91110 })
    const system = await makeUser(app, { kind: 0 })
    expect(await refused(app, users.action, { token: admin.token, params: { id: system.id }, body: { action: 'resetPassword' } })).toMatchObject({ code: 3000 })
    expect(await refused(app, users.delete, { token: admin.token, params: { id: system.id } })).toMatchObject({ code: 3000 })
    await app.platform.db.updateTable('users').set({ status: 'disabled' }).where('id', '=', system.id).execute()
  })

  it('keep one administrator who may sign in, even when two disable each other at once', async () => {
    const other = await testApp()
    try {
      const [one, two] = [await someone(other, { kind: 1 }), await someone(other, { kind: 1 })]
      await other.platform.db.updateTable('users').set({ status: 'disabled' }).where('kind', '=', 0).execute()
      const disable = (by: SignedIn, id: string) => send(other, users.action, { token: by.token, params: { id }, body: { action: 'disable' } })
      await Promise.all([disable(one, two.id), disable(two, one.id)])
      const { left } = await other.platform.db
        .selectFrom('users')
        .select((select) => select.fn.countAll<number>().as('left'))
        .where('kind', '<=', 1)
        .where('status', '=', 'active')
        .executeTakeFirstOrThrow()
      expect(left).toBe(1)
    } finally {
      await other.close()
    }
  })
})

describe('organisations', () => {
  it('are made with a project, renamed, frozen with all their people at once, and thawed', async () => {
    const made = await call(app, organisations.create, { token: admin.token, body: { name: `org-${randomUUID()}`, description: '算力' } })
    expect(made).toMatchObject({ kind: 'company', status: 'active', user_count: 0, project_count: 1, administrators: [], boundary: null, description: '算力' })
    expect(await refused(app, organisations.create, { token: admin.token, body: { name: made.name } })).toMatchObject({
      code: 91013,
      fields: [{ field: 'name' }],
    })
    const boss = await someone(app, { kind: 2, organisation: made.id })
    expect(await call(app, organisations.get, { token: boss.token, params: { id: made.id } })).toMatchObject({
      user_count: 1,
      administrators: [{ id: boss.id }],
    })
    expect(await refused(app, organisations.get, { token: (await someone(app)).token, params: { id: made.id } })).toMatchObject({ status: 404 })
    const to = { token: admin.token, params: { id: made.id } }
    expect(await call(app, organisations.action, { ...to, body: { action: 'freeze' } })).toMatchObject({ status: 'frozen' })
    expect(await alive(boss)).toBe(false)
    await expect(signIn(app, boss)).rejects.toThrow('91012')
    await call(app, organisations.action, { ...to, body: { action: 'unfreeze' } })
    expect((await signIn(app, boss)).token).toBeTruthy()
    const policy = await call(app, policies.create, {
      token: admin.token,
      body: { name: name(), document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] } },
    })
    await call(app, boundaries.setOfOrganisation, { ...to, body: { policy_id: policy.id } })
    expect(await call(app, organisations.update, { ...to, body: { name: `${made.name}-2` } })).toMatchObject({
      name: `${made.name}-2`,
      description: '',
      boundary: { id: policy.id },
    })
    expect(await refused(app, organisations.action, { token: admin.token, params: { id: randomUUID() }, body: { action: 'freeze' } })).toMatchObject({
      status: 404,
    })
  })
})

describe('invitations', () => {
  const accept = async (token: string, phone = somePhone(), username = name()) => {
    await call(app, invitations.code, { params: { token, phone } })
    return send(app, invitations.accept, { params: { token }, body: { username, phone, code: await codeSentTo(app, phone), password: 'Mine-alone-7' } })
  }

  it('let one person in, with registering closed, and are told once', async () => {
    const boss = await someone(app)
    await call(app, configs.set, { token: admin.token, body: { key: 'register_mode', value: 'closed' } })
    const made = await call(app, invitations.create, { token: boss.token, body: { note: '新同事', days: 1 } })
    expect(made).toMatchObject({ bp_id: boss.bp_id, role: 'TENANT', status: 'open', created_by: boss.name })
    expect(JSON.stringify(await call(app, invitations.list, { token: boss.token }))).not.toContain(made.token)
    expect(await call(app, invitations.look, { params: { token: made.token } })).toMatchObject({ invited_by: boss.name, role: 'TENANT' })
    const username = name()
    expect((await accept(made.token, somePhone(), username)).status).toBe(201)
    const { token } = await signIn(app, { name: username, password: 'Mine-alone-7' })
    expect(await call(app, users.current, { token })).toMatchObject({ kind: 4, bp_id: boss.bp_id, permissions: [{ role: 'TENANT' }] })
    expect((await call(app, invitations.list, { token: boss.token })).items).toMatchObject([{ status: 'used', used_by: username }])
    expect(await refused(app, invitations.look, { params: { token: made.token } })).toMatchObject({ code: 1183 })
  })

  it('of two at once let in one; revoked, expired, unknown or of a frozen organisation nobody', async () => {
    const boss = await someone(app)
    const invite = () => call(app, invitations.create, { token: boss.token, body: {} })
    const both = await invite()
    const answers = await Promise.all([accept(both.token), accept(both.token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
    const revoked = await invite()
    await call(app, invitations.revoke, { token: boss.token, params: { id: revoked.id } })
    expect(await refused(app, invitations.look, { params: { token: revoked.token } })).toMatchObject({ code: 1183 })
    expect(await refused(app, invitations.revoke, { token: boss.token, params: { id: revoked.id } })).toMatchObject({ status: 404 })
    const foreign = await invite()
    expect(await refused(app, invitations.revoke, { token: (await someone(app)).token, params: { id: foreign.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, invitations.look, { params: { token: 'x'.repeat(32) } })).toMatchObject({ code: 1183 })
    await call(app, organisations.action, { token: admin.token, params: { id: boss.bp_id ?? '' }, body: { action: 'freeze' } })
    expect(await refused(app, invitations.look, { params: { token: foreign.token } })).toMatchObject({ code: 1183 })
    await call(app, organisations.action, { token: admin.token, params: { id: boss.bp_id ?? '' }, body: { action: 'unfreeze' } })
    expect((await call(app, invitations.look, { params: { token: foreign.token } })).role).toBe('TENANT')
    await app.platform.db
      .updateTable('invitations')
      .set({ expires_at: new Date(0) })
      .where('id', '=', foreign.id)
      .execute()
    expect(await refused(app, invitations.look, { params: { token: foreign.token } })).toMatchObject({ code: 1183 })
    expect(await refused(app, invitations.create, { token: admin.token, body: {} })).toMatchObject({ code: 91014, fields: [{ field: 'bp_id' }] })
  })
})

describe('projects', () => {
  it('are made, filled, and deleted once they are empty', async () => {
    const boss = await someone(app)
    const member = await someone(app, { kind: 4, organisation: boss.bp_id })
    const made = await call(app, keptProjects.create, { token: boss.token, body: { name: '训练', key: 'train' } })
    expect(made).toMatchObject({ bp_id: boss.bp_id, member_count: 0 })
    expect(await refused(app, keptProjects.create, { token: boss.token, body: { name: '训练', key: 'other' } })).toMatchObject({
      code: 3001,
      fields: [{ field: 'name' }],
    })
    expect(await refused(app, keptProjects.create, { token: boss.token, body: { name: '推理', key: 'train' } })).toMatchObject({
      code: 91115,
      fields: [{ field: 'key' }],
    })
    const to = { token: boss.token, params: { id: made.id } }
    await call(app, keptProjects.addMember, { ...to, body: { user_id: member.id } })
    expect((await call(app, keptProjects.members, to)).items).toMatchObject([{ id: member.id }])
    expect((await call(app, projects.list, { token: member.token })).items.map(({ id }) => id)).toContain(made.id)
    expect(await refused(app, keptProjects.delete, to)).toMatchObject({ code: 3006 })
    await call(app, keptProjects.removeMember, { token: boss.token, params: { id: made.id, user_id: member.id } })
    expect((await call(app, keptProjects.contents, to)).items).toContainEqual({ resource: 'vms', count: 0 })
    const { cloud_id } = await call(app, clouds.create, { token: admin.token, body: { name: name(), product: 'nextstack', connection: { type: 'sandbox' } } })
    const group = await call(app, securityGroups.create, { token: boss.token, body: { cloud_id, name: 'web', project_id: made.id } })
    expect(await refused(app, keptProjects.delete, to)).toMatchObject({ code: 91116 })
    await call(app, securityGroups.delete, { token: boss.token, params: { id: group.id } })
    await expect.poll(async () => (await call(app, keptProjects.contents, to)).items.find(({ resource }) => resource === 'security_groups')?.count).toBe(0)
    expect(await call(app, keptProjects.update, { ...to, body: { name: '推理', description: '线上' } })).toMatchObject({ name: '推理', description: '线上' })
    await call(app, keptProjects.delete, to)
    expect(await refused(app, keptProjects.get, to)).toMatchObject({ status: 404 })
  })

  it('of others are not there, nor their people', async () => {
    const [boss, stranger] = [await someone(app), await someone(app)]
    const foreign = await call(app, keptProjects.create, { token: stranger.token, body: { name: '训练', key: 'train' } })
    for (const what of [keptProjects.get, keptProjects.contents, keptProjects.members, keptProjects.delete])
      expect((await send(app, what, { token: boss.token, params: { id: foreign.id } })).status).toBe(404)
    const own = await call(app, keptProjects.create, { token: boss.token, body: { name: '训练', key: 'train' } })
    expect(await refused(app, keptProjects.addMember, { token: boss.token, params: { id: own.id }, body: { user_id: stranger.id } })).toMatchObject({
      status: 404,
      fields: [{ field: 'user_id' }],
    })
    expect(await refused(app, keptProjects.addMember, { token: admin.token, params: { id: own.id }, body: { user_id: stranger.id } })).toMatchObject({
      code: 91113,
    })
  })

  it('with what denies something are not left by oneself', async () => {
    const boss = await someone(app)
    const project = await call(app, keptProjects.create, { token: boss.token, body: { name: '训练', key: 'train' } })
    await call(app, keptProjects.addMember, { token: boss.token, params: { id: project.id }, body: { user_id: boss.id } })
    const policy = await call(app, policies.create, {
      token: admin.token,
      body: { name: name(), document: { Version: policyLanguage, Statement: [{ Effect: 'Deny', Action: 'nextstack.vm.delete', Resource: '*' }] } },
    })
    await call(app, grants.create, { token: admin.token, body: { policy_id: policy.id, project_id: project.id } })
    expect(await refused(app, keptProjects.removeMember, { token: boss.token, params: { id: project.id, user_id: boss.id } })).toMatchObject({ code: 91110 })
  })
})
