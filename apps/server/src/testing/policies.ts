import { randomUUID } from 'node:crypto'
import type { BodyInput, Call } from '@zhisuan/contract/define'
import { boundaries, grants, type Grant } from '@zhisuan/contract/iam/grant'
import { policies, type Policy } from '@zhisuan/contract/iam/policy'
import { customRoles, type RoleRow } from '@zhisuan/contract/iam/role'
import { policyLanguage, type PolicyDocument, type PolicyStatement } from '@zhisuan/contract/policy/document'
import type { TestApp } from './app.ts'
import { call, send, type AnyInput } from './call.ts'
import type { SignedIn } from './people.ts'

export const policyOf = (...Statement: PolicyStatement[]): PolicyDocument => ({ Version: policyLanguage, Statement })
export const allow = (Action: string | string[], more: Partial<PolicyStatement> = {}): PolicyStatement => ({ Effect: 'Allow', Action, Resource: '*', ...more })
export const deny = (Action: string | string[], more: Partial<PolicyStatement> = {}): PolicyStatement => ({ ...allow(Action, more), Effect: 'Deny' })
export const someName = (): string => `p-${randomUUID()}`

/** Makes policies, roles, grants and boundaries by the calls. */
export const keeping = (app: TestApp) => ({
  makePolicy: (by: SignedIn, statements: readonly PolicyStatement[], more: Partial<BodyInput<typeof policies.create>> = {}): Promise<Policy> =>
    call(app, policies.create, { token: by.token, body: { name: someName(), document: policyOf(...statements), ...more } }),
  makeRole: (by: SignedIn, more: Partial<BodyInput<typeof customRoles.create>> = {}): Promise<RoleRow> =>
    call(app, customRoles.create, { token: by.token, body: { name: someName(), base: 'TENANT', ...more } }),
  give: (by: SignedIn, policy: { id: string }, holder: { user_id: string } | { role_id: string } | { project_id: string }): Promise<Grant> =>
    call(app, grants.create, { token: by.token, body: { policy_id: policy.id, ...holder } }),
  bound: (by: SignedIn, holder: { user_id: string } | { bp_id: string }, policy: { id: string } | null) =>
    call(app, 'user_id' in holder ? boundaries.setOfUser : boundaries.setOfOrganisation, {
      token: by.token,
      params: { id: 'user_id' in holder ? holder.user_id : holder.bp_id },
      body: { policy_id: policy?.id ?? null },
    }),
  addMember: (by: SignedIn, role: { id: string }, user_id: string) =>
    call(app, customRoles.addMember, { token: by.token, params: { id: role.id }, body: { user_id } }),
})

/** Whether somebody is refused for who they are. */
export async function isDenied(app: TestApp, who: SignedIn, what: Call, input: AnyInput = {}): Promise<boolean> {
  const { body } = await send(app, what, { token: who.token, ...input })
  return typeof body === 'object' && body !== null && 'code' in body && body.code === 3000
}
