import { z } from 'zod'
import { defineCall, listOf, listQuery } from '../define.ts'
import { keepers, tenants } from '../roles.ts'
import { plainLine } from '../validation.ts'
import { fieldTexts } from '../texts.ts'

const text = (length: number) => z.string().trim().min(1).max(length).regex(plainLine, fieldTexts.controlCharacters)
const action = text(128)
/** An id, or `*` for the whole kind, of the organisation of whoever is asked about; or a name in full, see policy/resource.ts. */
const resource = text(256).default('*')

const statementPlace = z.object({ policy_id: z.string(), policy_name: z.string(), index: z.int(), sid: z.string().nullable() })

/** See policy/evaluate.ts; `role` is refused before any policy is asked: no role that the user has may ever make this call; `inactive` may not even sign in. */
export const outcomes = ['allowed', 'explicitDeny', 'outsideBoundary', 'implicitDeny', 'role', 'inactive'] as const

/** Of a resource of an application: what its names have behind `type/`, without wildcards. */
const objectName = z
  .string()
  .trim()
  .max(256)
  .regex(/^(?:\*|[^\s*?${}\p{Cc}]+)$/u, fieldTexts.objectName)
  .default('*')

export const decisions = {
  /** For applications: they ask as who keeps the service, or as somebody whom a policy allows it for `zrn:iam:…:decision/<service>`. */
  decide: defineCall({
    id: 'iam.decision.decide',
    method: 'POST',
    path: '/api/iam/v1/services/{id}/decisions',
    summary: 'Whether somebody may do something in an application of one’s own',
    access: tenants,
    onlyByPolicy: ['TENANT'],
    audit: false,
    params: z.object({ id: text(64) }),
    body: z.object({
      user_id: z.uuid(),
      /** In full: `erp.invoice.approve`. */
      action,
      /** What its name has behind `type/`; it belongs to the organisation of whoever is asked about. */
      resource: objectName,
      /** Condition keys of the service, tags, and of our keys those of the request that the application got. */
      context: z.record(text(128), z.union([text(256), z.array(text(256)).max(50)])).default({}),
    }),
    response: z.object({ allowed: z.boolean(), outcome: z.enum(outcomes), resource: z.string() }),
  }),
  /** Of calls about one thing, those that are refused whatever it is; so that nobody is offered what they would be refused. */
  own: defineCall({
    id: 'iam.decision.own',
    method: 'GET',
    path: '/api/iam/v1/decisions/own',
    summary: 'What one’s roles let one do and one’s policies do not',
    access: 'all',
    response: z.object({
      items: z.array(z.object({ action: z.string(), outcome: z.enum(['explicitDeny', 'outsideBoundary', 'implicitDeny']), by: statementPlace.nullable() })),
    }),
  }),
  /** Once for a person, an action and a day. Nobody is told where nobody else could give it: of the platform's people, and of who is alone. */
  request: defineCall({
    id: 'iam.decision.request',
    method: 'POST',
    path: '/api/iam/v1/decisions/requests',
    summary: 'Ask the administrators of one’s organisation to be allowed something',
    access: 'all',
    perMinute: 20,
    body: z.object({ action }),
    response: z.object({
      /** Whether somebody was told now; false where they were today already. */
      told: z.boolean(),
      /** The ready-made role that allows it and the least besides; null where none does. */
      role: z.string().nullable(),
    }),
  }),
  explain: defineCall({
    id: 'iam.decision.explain',
    method: 'POST',
    path: '/api/iam/v1/decisions',
    summary: 'Whether somebody may do something, and which statement says so',
    access: keepers,
    audit: false,
    body: z.object({ user_id: z.uuid(), action, resource, context: z.record(text(128), text(256)).default({}) }),
    response: z.object({
      user: z.object({ id: z.uuid(), name: z.string() }),
      outcome: z.enum(outcomes),
      /** What was asked about, in full. */
      resource: z.string(),
      by: statementPlace.nullable(),
      /** Every statement about the action, of policies and boundaries, and why it does not apply. */
      statements: z.array(
        statementPlace.extend({
          boundary: z.boolean(),
          effect: z.enum(['Allow', 'Deny']),
          applies: z.boolean(),
          other_resource: z.boolean(),
          unmet: z.array(z.object({ operator: z.string(), key: z.string() })),
        }),
      ),
    }),
  }),
  who: defineCall({
    id: 'iam.decision.who',
    method: 'GET',
    path: '/api/iam/v1/decisions/who',
    summary: 'Everybody one sees, and whether each may do this',
    access: keepers,
    query: listQuery(['name'], { action, resource, allowed: z.enum(['true', 'false']).optional() }),
    response: listOf(
      z.object({
        user: z.object({ id: z.uuid(), name: z.string(), nickname: z.string(), bp_id: z.uuid().nullable(), bp_name: z.string().nullable() }),
        outcome: z.enum(outcomes),
        by: statementPlace.nullable(),
      }),
    ),
  }),
} as const
