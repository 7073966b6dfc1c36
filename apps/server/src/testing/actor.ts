import type { Actor } from '../platform/auth/actor.ts'
import { unlimited } from '../platform/auth/rules.ts'

/** Somebody for services that are called without HTTP: a tenant of an organisation, signed in by password just now. */
export const someActor = (changes: Partial<Actor> = {}): Actor => ({
  user_id: 'u',
  name: 'u',
  kind: 4,
  roles: ['TENANT'],
  built_in_roles: ['TENANT'],
  rules: unlimited,
  bp_id: 'b',
  session_id: 's',
  session_since: new Date(),
  authenticated_by: 'password',
  second_factor_at: null,
  must_change_password: false,
  access_key: null,
  ...changes,
})
