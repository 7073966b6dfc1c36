import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import type { Role } from '@zhisuan/contract/roles'
import { sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import { insertGrant } from '../grant/grant.store.ts'
import { insertPolicy, insertVersion, updatePolicy } from '../policy/policy.store.ts'
import { insertRole } from '../role/role.store.ts'

/** One server at a time. */
export const hold = async (tx: Tx): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('iam ready-made', 13))`.execute(tx)
}

export interface KnownReadyMade {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly base: Role
  readonly last_version: number
  readonly document: PolicyDocument
}

/** By their keys. */
export async function known(tx: Tx): Promise<ReadonlyMap<string, KnownReadyMade>> {
  const rows = await tx
    .selectFrom('policies')
    .innerJoin('roles', 'roles.system_key', 'policies.system_key')
    .innerJoin('policy_versions', (join) =>
      join.onRef('policy_versions.policy_id', '=', 'policies.id').onRef('policy_versions.version', '=', 'policies.default_version'),
    )
    .select(['policies.id', 'policies.name', 'policies.description', 'policies.last_version', 'policies.system_key', 'roles.base', 'policy_versions.document'])
    .execute()
  return new Map(rows.flatMap(({ system_key, ...row }) => (system_key === null ? [] : [[system_key, row] as const])))
}

interface Named {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** The policy, the role, and that the role has the policy. */
export async function insert(
  tx: Tx,
  key: string,
  { policy, role, grant }: { policy: Named; role: Named & { readonly base: Role }; grant: string },
  document: PolicyDocument,
  by: string,
): Promise<void> {
  await insertPolicy(tx, { ...policy, bp_id: null, system_key: key, default_version: 1, last_version: 1, created_by: by }, document)
  await insertRole(tx, { ...role, bp_id: null, system_key: key, built_in: false })
  await insertGrant(tx, { id: grant, policy_id: policy.id, user_id: null, role_id: role.id, project_id: null, created_by: by })
}

export async function rename(tx: Tx, key: string, { base, ...named }: { name: string; description: string; base: Role }): Promise<void> {
  await tx
    .updateTable('policies')
    .set({ ...named, updated_at: sql`now()` })
    .where('system_key', '=', key)
    .execute()
  await tx
    .updateTable('roles')
    .set({ ...named, base, updated_at: sql`now()` })
    .where('system_key', '=', key)
    .execute()
}

/** It counts from now on; of the older ones the oldest go. */
export async function addVersion(tx: Tx, { id, last_version }: KnownReadyMade, document: PolicyDocument, by: string, kept: number): Promise<void> {
  const version = last_version + 1
  await insertVersion(tx, { policy_id: id, version, document, created_by: by })
  await updatePolicy(tx, id, { default_version: version, last_version: version })
  await tx
    .deleteFrom('policy_versions')
    .where('policy_id', '=', id)
    .where('version', '<=', version - kept)
    .execute()
}
