import { setImmediate as nextTurn } from 'node:timers/promises'
import { allCalls } from '@zhisuan/contract/calls'
import { billingZone } from '@zhisuan/contract/bill/meter'
import type { BodyOf, Call, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { fillText } from '@zhisuan/contract/errors'
import { actionsOf, readyMade } from '@zhisuan/contract/iam/readyMade'
import type { decisions as calls, outcomes } from '@zhisuan/contract/iam/decision'
import { relayedKeys } from '@zhisuan/contract/iam/service'
import { decide, explain, refusedAlways, type AccessRequest, type StatementPlace } from '@zhisuan/contract/policy/evaluate'
import { tagPrefixes } from '@zhisuan/contract/policy/keys'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { resourceName } from '@zhisuan/contract/policy/resource'
import { packRefused } from '@zhisuan/contract/policy/refused'
import { mayAccess, tenantRoles, type Role } from '@zhisuan/contract/roles'
import { fieldTexts, messageTexts } from '@zhisuan/contract/texts'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { subjectOf, type Rules } from '../../../platform/auth/rules.ts'
import type { Sql } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { TellOnce } from '../../sys/message/message.service.ts'
import { personOf } from '../rules/person.store.ts'
import type { RulesService } from '../rules/rules.ts'
import { getService, isKept } from '../service/service.store.ts'
import { customActionsOf, customService, customTypes } from '../service/vocabulary.ts'

type Calls = typeof calls
type Outcome = (typeof outcomes)[number]
type Someone = Awaited<ReturnType<ReturnType<typeof personOf>['executeTakeFirstOrThrow']>>

const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Names of policies, for people; what is built in has its id. */
async function namesOf(on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(ids.filter(isId))]
  if (known.length === 0) return new Map()
  const rows = await on.selectFrom('policies').select(['id', 'name']).where('id', 'in', known).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** As their own request would name it. */
function nameFor(person: Someone, action: string, resource: string): string {
  const { service, type } = subjectOf({ id: action })
  return resource.startsWith('zrn:') ? resource : resourceName(service, type, person.bp_id, resource)
}

/** @param pattern `{bucket}/{id}` */
function fitsPattern(pattern: string, resource: string): boolean {
  if (resource === '*') return true
  const [wanted, parts] = [pattern.split('/'), resource.split('/')]
  return wanted.length === parts.length && wanted.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]))
}

/** As people of the platform count days. */
const dayOf = (at: Date): string => new Intl.DateTimeFormat('sv-SE', { timeZone: billingZone, dateStyle: 'short' }).format(at)

/** The ready-made role that allows an action and the least besides; null where none does. */
const roleFor = (action: string): string | null =>
  readyMade
    .map(({ name, ...made }) => ({ name, actions: actionsOf(made) }))
    .filter(({ actions }) => actions.includes(action))
    .sort((one, other) => one.actions.length - other.actions.length)[0]?.name ?? null

/** Decided by policies, once somebody's roles let them ask at all. */
const isDecided = (call: Call, actor: Actor): boolean =>
  call.access !== 'public' && !call.always && call.onlyByPolicy.length === 0 && mayAccess(call.access, actor)

export type DecisionService = ReturnType<typeof createDecisionService>

/** Answers who may do what, by the very rules that requests are decided with. */
export function createDecisionService({ db, now }: Pick<Platform, 'db' | 'now'>, rules: RulesService, tell: TellOnce) {
  const contextOf = (person: Pick<Actor, 'user_id' | 'kind' | 'bp_id'> & { name: string | null }, said: Context): AccessRequest['context'] => ({
    'zs:CurrentTime': now().toISOString(),
    ...said,
    'zs:UserId': person.user_id,
    'zs:UserName': person.name ?? '',
    'zs:UserKind': String(person.kind),
    ...(person.bp_id !== null && { 'zs:OrganisationId': person.bp_id }),
  })
  /** A call of ours; null for an action of another service that the actor sees. @throws Refusal 404 */
  const callOf = async (actor: Actor, action: string): Promise<Call | null> => {
    const call = allCalls.find(({ id }) => id === action)
    if (call !== undefined) return call
    if (!(await customActionsOf(db, scopeOf(actor))).includes(action)) throw new Refusal('notFound', { field: 'action' })
    return null
  }
  const judge = (person: Someone, held: Rules, call: Pick<Call, 'access'> | null, request: AccessRequest): { outcome: Outcome; by: StatementPlace | null } => {
    if (!person.is_active) return { outcome: 'inactive', by: null }
    return call === null || mayAccess(call.access, person) ? decide(held.policies, held.boundaries, request) : { outcome: 'role', by: null }
  }
  const place = (statement: StatementPlace, names: ReadonlyMap<string, string>) => ({
    policy_id: statement.policy_id,
    policy_name: names.get(statement.policy_id) ?? statement.policy_id,
    index: statement.index,
    sid: statement.sid,
  })

  /** Of calls that their roles let them make, those that are refused whatever they are about. */
  const refusedTo = async (actor: Actor) => {
    const { policies, boundaries } = actor.rules
    const context = contextOf(actor, {})
    const refused = []
    let since = performance.now()
    for (const call of allCalls) {
      if (!isDecided(call, actor)) continue
      const { service, type } = subjectOf(call)
      const resource = call.subjects !== undefined || call.path.includes('{id}') ? null : resourceName(service, type, actor.bp_id)
      let decision = refusedAlways(policies, boundaries, { action: call.id, resource, context })
      for (const also of call.also?.({ params: {}, body: undefined }) ?? []) {
        const about = subjectOf({ id: also.action })
        decision ??= refusedAlways(policies, boundaries, {
          action: also.action,
          resource: also.on === undefined ? resourceName(about.service, about.type, actor.bp_id) : null,
          context,
        })
      }
      if (decision !== null) refused.push({ action: call.id, ...decision })
      // Somebody may have many policies: others are answered meanwhile.
      if (performance.now() - since > 20) {
        await nextTurn()
        since = performance.now()
      }
    }
    return refused
  }

  return {
    /** @throws Refusal 404, 3000 for a service of somebody else's, 90001 */
    async decide(actor: Actor, serviceId: string, { user_id, action, resource, context }: BodyOf<Calls['decide']>): Promise<ResponseOf<Calls['decide']>> {
      const row = found(await getService(db, scopeOf(actor), serviceId))
      if (!(await isKept(db, scopeOf(actor), serviceId))) throw new Refusal('noPermission')
      const type = customTypes(row).find(({ actions }) => actions.includes(action))
      if (type === undefined) throw new Refusal('notFound', { field: 'action' })
      if (!fitsPattern(type.pattern, resource))
        throw new Refusal('fieldsInvalid', { fields: [{ field: 'resource', message: fillText(fieldTexts.objectPattern, { pattern: type.pattern }) }] })
      const own = new Set([...customService(row).condition_keys.map(({ key }) => key), ...relayedKeys])
      const unknown = Object.keys(context).find((key) => !own.has(key) && !tagPrefixes.some((prefix) => key.startsWith(prefix)))
      if (unknown !== undefined) throw new Refusal('fieldsInvalid', { fields: [{ field: `context.${unknown}`, message: fieldTexts.contextKey }] })
      const person = await personOf(db, scopeOf(actor)).where('users.id', '=', user_id).executeTakeFirst()
      if (person === undefined) throw new Refusal('notFound', { field: 'user_id' })
      const request = { action, resource: nameFor(person, action, resource), context: contextOf(person, context) }
      const { outcome } = judge(person, await rules.of(person), null, request)
      return { allowed: outcome === 'allowed', outcome, resource: request.resource }
    },

    async own(actor: Actor): Promise<ResponseOf<Calls['own']>> {
      const refused = await refusedTo(actor)
      const names = await namesOf(
        db,
        refused.flatMap(({ by }) => by?.policy_id ?? []),
      )
      return { items: refused.map(({ action, outcome, by }) => ({ action, outcome, by: by === null ? null : place(by, names) })) }
    },

    /** The same, shortly: what menus leave out and buttons say. */
    async refused(actor: Actor): Promise<readonly string[]> {
      // Kind 0 is beyond policies.
      if (actor.kind === 0) return []
      const refused = new Set((await refusedTo(actor)).map(({ action }) => action))
      const others = allCalls.filter((call) => mayAccess(call.access, actor) && !refused.has(call.id)).map(({ id }) => id)
      return packRefused([...refused], others)
    },

    /** @throws Refusal 404, 91119 where nobody of the organisation could give it */
    async request(actor: Actor, { action }: BodyOf<Calls['request']>): Promise<ResponseOf<Calls['request']>> {
      const call = allCalls.find(({ id }) => id === action)
      if (call === undefined) throw new Refusal('notFound', { field: 'action' })
      const { access } = call
      const given = typeof access !== 'string' && tenantRoles.some((role: Role) => access.includes(role))
      if (actor.kind !== 4 || actor.bp_id === null || !given) throw new Refusal('rightsFromNobody')
      const { bp_id, user_id, name } = actor
      const role = roleFor(action)
      const refused = refusedAlways(actor.rules.policies, actor.rules.boundaries, { action, resource: null, context: contextOf(actor, {}) })
      const text =
        refused?.outcome === 'explicitDeny'
          ? messageTexts.rightsRequestedDenied
          : refused?.outcome === 'outsideBoundary'
            ? messageTexts.rightsRequestedBounded
            : role === null
              ? messageTexts.rightsRequestedNoRole
              : messageTexts.rightsRequested
      const told = await db.transaction().execute((tx) =>
        tell(tx, {
          kind: 'iam.requested',
          bp_id,
          text: fillText(text, { person: name, action, role: role ?? '' }),
          about: { kind: 'ums.user', id: user_id, name },
          key: `${user_id} ${action} ${dayOf(now())}`,
        }),
      )
      return { told, role }
    },

    async explain(actor: Actor, { user_id, action, resource, context }: BodyOf<Calls['explain']>): Promise<ResponseOf<Calls['explain']>> {
      const person = await personOf(db, scopeOf(actor)).where('users.id', '=', user_id).executeTakeFirst()
      if (person === undefined) throw new Refusal('notFound', { field: 'user_id' })
      const call = await callOf(actor, action)
      const held = await rules.of(person)
      const request = { action, resource: nameFor(person, action, resource), context: contextOf(person, context) }
      const { outcome, by } = judge(person, held, call, request)
      const statements = [held.policies, ...held.boundaries].flatMap((part, index) => explain(part, request).map((one) => ({ ...one, boundary: index > 0 })))
      const names = await namesOf(
        db,
        statements.map(({ policy_id }) => policy_id),
      )
      return {
        user: { id: person.user_id, name: person.name ?? '' },
        outcome,
        resource: request.resource,
        by: by === null ? null : place(by, names),
        statements: statements.map((one) => ({
          ...place(one, names),
          boundary: one.boundary,
          effect: one.effect,
          applies: one.applies,
          other_resource: one.otherResource,
          unmet: one.unmet.map(({ operator, key }) => ({ operator, key })),
        })),
      }
    },

    /** Each person is decided about; the page is cut out of what came of it. */
    async who(actor: Actor, { action, resource, allowed, page_num, page_size, sort }: QueryOf<Calls['who']>): Promise<ResponseOf<Calls['who']>> {
      const call = await callOf(actor, action)
      const people = await personOf(db, scopeOf(actor))
        .orderBy('users.name', sort === '-name' ? 'desc' : 'asc')
        .orderBy('users.id')
        .execute()
      const judged = []
      for (const person of people) {
        const decision = judge(person, await rules.of(person), call, { action, resource: nameFor(person, action, resource), context: contextOf(person, {}) })
        if (allowed === undefined || (allowed === 'true') === (decision.outcome === 'allowed')) judged.push({ person, ...decision })
      }
      const page = judged.slice((page_num - 1) * page_size, page_num * page_size)
      const names = await namesOf(
        db,
        page.flatMap(({ by }) => by?.policy_id ?? []),
      )
      return {
        total: judged.length,
        items: page.map(({ person, outcome, by }) => ({
          user: {
            id: person.user_id,
            name: person.name ?? '',
            nickname: person.nickname === '' ? (person.name ?? '') : person.nickname,
            bp_id: person.bp_id,
            bp_name: person.bp_name,
          },
          outcome,
          by: by === null ? null : place(by, names),
        })),
      }
    },
  }
}
