import { describe, expect, it } from 'vitest'
import { allCalls } from '../calls.ts'
import { readPolicy } from '../policy/problems.ts'
import { tenantRoles } from '../roles.ts'
import { actionsOf, documentOf, readyMade, tenantCalls } from './readyMade.ts'

const ids = allCalls.map(({ id }) => id)
const made = (key: string) => {
  const found = readyMade.find((one) => one.key === key)
  if (found === undefined) throw new Error(`no ${key}`)
  return found
}

/**
 * What people of an organisation may change and no ready-made policy allows, but for who may do everything: orders and
 * what renews them spend money, and the rest is set up once.
 */
const forNobodyAlone = [
  'bill.budget.create',
  'bill.budget.update',
  'bill.budget.delete',
  'bill.notice.setContacts',
  'bill.order.create',
  'bill.order.pay',
  'bill.order.cancel',
  'bill.order.renew',
  'bill.order.refund',
  'bill.prepaid.setAutoRenew',
  'iam.service.create',
  'iam.service.update',
  'iam.service.delete',
  'iam.resource.create',
  'iam.resource.update',
  'iam.resource.delete',
  'ums.identityProvider.create',
  'ums.identityProvider.update',
  'ums.identityProvider.delete',
  'ums.identityProvider.test',
]

describe('ready-made policies', () => {
  it('have keys and names of their own', () => {
    for (const part of ['key', 'name'] as const) expect(new Set(readyMade.map((one) => one[part])).size).toBe(readyMade.length)
  })

  it.each(readyMade)('$name names only what there is, and is a policy as anybody could write it', (one) => {
    for (const group of [...one.reads, ...one.all])
      expect(
        tenantCalls.some(({ id }) => id.startsWith(`${group}.`)),
        `${group} names calls of tenants`,
      ).toBe(true)
    for (const call of one.calls) expect(tenantCalls.map(({ id }) => id)).toContain(call)
    for (const action of actionsOf(one)) expect(ids).toContain(action)
    expect(readPolicy(documentOf(one), { actions: ids })).toEqual({ document: documentOf(one) })
  })

  it('全部只读 covers every GET of tenants, and nothing that changes', () => {
    const actions = new Set(actionsOf(made('readOnly')))
    const ofTenants = allCalls.filter(({ access }) => typeof access !== 'string' && tenantRoles.some((role) => access.includes(role)))
    const missing = ofTenants.filter(({ id, method }) => method === 'GET' && !actions.has(id)).map(({ id }) => id)
    // It ends the node's former token and makes a new one: a GET of the specification that changes.
    expect(missing).toEqual(['ecrm.edge.qrcode'])
    for (const call of allCalls.filter(({ id }) => actions.has(id))) expect(call.audit, `${call.id} is not in the audit log`).toBe(false)
    // What only tells, and is asked by POST because its question is long, or secret; and that one has read what one was told.
    // One that is new here has to be looked at.
    expect(allCalls.filter(({ id, method }) => actions.has(id) && method !== 'GET').map(({ id }) => id)).toEqual([
      'bill.quote.ask',
      'bill.invoice.download',
      'aos.stack.validate',
      'cis.container.check',
      'cis.container.logLink',
      'ecrm.lookup.uniqueness',
      'iam.policy.check',
      'iam.decision.explain',
      'ims.command.create',
      'ims.project.keepPreview',
      'ims.repository.pull',
      'files.entry.download',
      'omc.stat.nodes',
      'omc.alarm.preview',
    ])
  })

  it('leave nothing out that people of an organisation do, but what is named here', () => {
    const covered = new Set(readyMade.flatMap(actionsOf))
    expect(
      tenantCalls
        .filter(({ id }) => !covered.has(id))
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...forNobodyAlone].sort())
  })

  it('are within what their role may be allowed at all', () => {
    for (const one of readyMade.filter(({ key }) => key !== 'readOnly')) {
      for (const id of actionsOf(one)) {
        const call = allCalls.find((other) => other.id === id)
        // Of what is read along some may be for administrators only.
        if (call?.audit === true) expect(call.access, `${one.name}: ${id}`).toContain(one.base)
      }
    }
  })

  it('财务 spends nothing but what it pays in', () => {
    for (const id of actionsOf(made('finance'))) expect(id).not.toMatch(/^bill\.(order\.(create|pay|renew|refund|cancel)|prepaid\.set.*)$/)
  })
})

it('allows with each call what that does besides', () => {
  for (const one of readyMade) {
    const allowed = new Set(actionsOf(one))
    for (const call of tenantCalls.filter(({ id }) => allowed.has(id)))
      for (const { action, on } of call.also?.({ params: {}, body: undefined }) ?? [])
        expect(
          allowed.has(action) || (one.on?.calls.includes(action) === true && one.on.resource === `zrn:${on?.kind.replace('.', ':*:')}/*`),
          `${call.id} of ${one.key}: ${action}`,
        ).toBe(true)
  }
})
