import { allCalls } from '@zhisuan/contract/calls'
import { decisions } from '@zhisuan/contract/iam/decision'
import { actionsOf, readyMade } from '@zhisuan/contract/iam/readyMade'
import { customRoles } from '@zhisuan/contract/iam/role'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { isRefused } from '@zhisuan/contract/policy/refused'
import { mayAccess } from '@zhisuan/contract/roles'
import { messages } from '@zhisuan/contract/sys/message'
import { users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { deny, keeping } from '../../../testing/policies.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

/** A company, and somebody of it who has one ready-made role. */
async function member(roleName: string): Promise<{ boss: Person & SignedIn; who: Person & SignedIn }> {
  const boss = await someone(app)
  const who = await someone(app, { kind: 4, roles: [], organisation: boss.bp_id })
  const { items } = await call(app, customRoles.list, { token: boss.token, query: { kind: 'system', page_size: 100 } })
  const role = items.find(({ name }) => name === roleName)
  if (role === undefined) throw new Error(`no role ${roleName}`)
  await keeping(app).addMember(boss, role, who.id)
  return { boss, who }
}
const told = async (who: SignedIn) =>
  (await call(app, messages.list, { token: who.token, query: { page_size: 100 } })).items.filter(({ kind }) => kind === 'iam.requested')
const ask = (who: SignedIn, action: string) => call(app, decisions.request, { token: who.token, body: { action } })

describe('what policies refuse somebody', () => {
  it.each(readyMade)('is told with who they are: with $name all but what it allows, and that shortly', async (made) => {
    const { who } = await member(made.name)
    const { refused: packed, kind, permissions } = await call(app, users.current, { token: who.token })
    const person = { kind, roles: permissions.map(({ role }) => role) }
    // What is allowed of some things is not refused of all, where a call names which: that is asked with each.
    const some = allCalls.filter(({ id, path }) => made.on?.calls.includes(id) === true && path.includes('{id}')).map(({ id }) => id)
    const allowed = new Set([...actionsOf(made), ...some])
    for (const { id, access, always, onlyByPolicy } of allCalls.filter((one) => typeof one.access !== 'string' && mayAccess(one.access, person)))
      expect(isRefused(packed, id), `${id} ${String(access)}`).toBe(!allowed.has(id) && !always && onlyByPolicy.length === 0)
    for (const { id } of allCalls.filter(({ access }) => typeof access === 'string')) expect(isRefused(packed, id), id).toBe(false)
    expect(JSON.stringify(packed).length).toBeLessThan(8_000)
  })

  it('is nothing for who has a built-in role, until something is denied', async () => {
    const boss = await someone(app)
    expect((await call(app, users.current, { token: boss.token })).refused).toEqual([])
    const who = await someone(app, { kind: 4, organisation: boss.bp_id })
    await keeping(app).give(boss, await keeping(app).makePolicy(boss, [deny('nextstack.vm.*')]), { user_id: who.id })
    expect((await call(app, users.current, { token: who.token })).refused).toEqual(expect.arrayContaining(['nextstack.vm.*']))
  })

  it('names the action and the statement in each answer, and the role where no policy was asked', async () => {
    const { boss, who } = await member('财务')
    const [{ action }] = [{ action: 'nextstack.vm.list' }]
    expect(await refused(app, vms.list, { token: who.token })).toMatchObject({ code: 3000, refused: { action, outcome: 'implicitDeny', by: null } })
    const policy = await keeping(app).makePolicy(boss, [deny('bill.*'), { ...deny(action), Sid: 'NoMachines' }])
    await keeping(app).give(boss, policy, { user_id: who.id })
    expect(await refused(app, vms.list, { token: who.token })).toMatchObject({
      refused: { action, outcome: 'explicitDeny', by: { policy_id: policy.id, index: 1, sid: 'NoMachines' } },
    })
    expect(await refused(app, users.list, { token: who.token })).toMatchObject({ code: 3000, refused: { action: 'ums.user.list', outcome: 'role', by: null } })
  })
})

describe('asking for a right', () => {
  it('tells who manages the organisation, once a day for each action, with the role that has it and who asks', async () => {
    const { boss, who } = await member('财务')
    const colleague = await someone(app, { kind: 4, organisation: boss.bp_id })
    const stranger = await someone(app)
    // Both at once are one.
    const answers = await Promise.all([ask(who, 'nextstack.vm.create'), ask(who, 'nextstack.vm.create')])
    expect(answers.map((answer) => answer.told).toSorted()).toEqual([false, true])
    expect(answers.map(({ role }) => role)).toEqual(['云主机运维', '云主机运维'])
    expect(await told(boss)).toMatchObject([
      { category: 'security', about: { kind: 'ums.user', id: who.id, name: who.name }, text: expect.stringContaining('云主机运维') },
    ])
    for (const other of [who, colleague, stranger]) expect(await told(other)).toEqual([])
    expect(await ask(who, 'nextstack.vm.delete')).toMatchObject({ told: true })
    expect(await told(boss)).toHaveLength(2)
    app.clock.advance(24 * 60 * 60_000)
    expect(await ask(await signIn(app, who), 'nextstack.vm.create')).toMatchObject({ told: true })
  })

  it('says where giving the role would not help', async () => {
    const { boss, who } = await member('财务')
    const { text: plain } = await ask(who, 'bill.order.create').then(async () => (await told(boss))[0] ?? { text: '' })
    expect(plain).toContain('没有现成的角色')
    await keeping(app).give(boss, await keeping(app).makePolicy(boss, [deny('cis.*')]), { user_id: who.id })
    await ask(who, 'cis.container.deploy')
    expect((await told(boss))[0]?.text).toContain('明确拒绝')
  })

  it('is refused where nobody of the organisation could give it, and of what is no action', async () => {
    const { boss, who } = await member('财务')
    expect(await refused(app, decisions.request, { token: who.token, body: { action: 'cmp.cloud.create' } })).toMatchObject({ code: 91119 })
    expect(await refused(app, decisions.request, { token: boss.token, body: { action: 'nextstack.vm.create' } })).toMatchObject({ code: 91119 })
    expect(await refused(app, decisions.request, { token: who.token, body: { action: 'nextstack.vm.fly' } })).toMatchObject({ status: 404 })
  })
})
