import { sizeText } from '@zhisuan/contract/resource'
import { createHmac, randomBytes } from 'node:crypto'
import { repositories, repositoryAccess } from '@zhisuan/contract/ims/project'
import type { Call } from '@zhisuan/contract/define'
import { isPlatformKind, mayAccess } from '@zhisuan/contract/roles'
import type { RegistryScope } from '@zhisuan/engines/registry/types'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { decideCall } from '../../../platform/auth/rules.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import { Refusal } from '../../../platform/errors.ts'
import { contextOf, type Authorising } from '../../../platform/http/bind.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { StandingService } from '../../bill/arrears/standing.service.ts'
import { projectForToken, type ProjectForToken } from '../project/project.store.ts'
import * as registries from '../registry/registry.store.ts'
import { parseScopes, partsOf } from './scopes.ts'
import { leewaySeconds, tokenSeconds, type Tokens } from './tokens.ts'

/** Who may do what at a registry, by the call that asks for the same. */
const callOf: Readonly<Record<'pull' | 'push' | 'delete', Call>> = {
  pull: repositoryAccess.pull,
  push: repositoryAccess.push,
  delete: repositories.deleteTag,
}

/** So often may a name be tried with a wrong password before it has to wait. */
const guessesMost = 10
const guessesMs = 5 * 60_000
/** A program asks for a token for each repository, and hashing a password is made to take long: so long is it known to be right. */
const provenMs = 5 * 60_000

export interface TokenAsk {
  readonly service: string
  readonly scope: string | readonly string[] | undefined
  /** Null: nobody, who pulls what is public. */
  readonly login: { readonly username: string; readonly password: string } | null
}

export interface TokenAnswer {
  readonly token: string
  readonly access_token: string
  readonly expires_in: number
  readonly issued_at: string
}

export interface TokenParts {
  readonly tokens: Tokens
  /** Whether a password is the one of a hash; as long as ever where there is none. */
  readonly verify: (hash: string | null, password: string) => Promise<boolean>
  /** Whom an access key stands for. @throws Refusal */
  readonly ofAccessKey: (secret: string, ip: string) => Promise<Actor | null>
  readonly isAccessKey: (secret: string) => boolean
  readonly personOf: (userId: string) => Promise<Actor | null>
  /** Whether an organisation may have more of what costs by the hour. @throws Refusal */
  readonly mayMake: StandingService['mayMake']
}

export type TokenService = ReturnType<typeof createTokenService>

/** The token service of registries (distribution, "Token Authentication Specification"): decides what may be pulled, pushed and deleted. */
export function createTokenService({ db, now }: Pick<Platform, 'db' | 'now'>, parts: TokenParts) {
  const guesses = new LRUCache<string, number>({ max: 20_000, ttl: guessesMs })
  const proven = new LRUCache<string, true>({ max: 20_000, ttl: provenMs })
  const provenKey = randomBytes(32)
  /** A program asks for several tokens at once: what it tells is looked at once. */
  const looking = new Map<string, Promise<boolean>>()

  /**
   * Of this very hash: who sets another password has the one before forgotten.
   * @param count each password that is looked at counts before it is, so that nobody tries many at once
   */
  const verified = async (hash: string | null, username: string, password: string, count: () => void): Promise<boolean> => {
    const proof = createHmac('sha256', provenKey)
      .update(`${hash ?? username}\n${password}`)
      .digest('base64')
    if (proven.has(proof)) return true
    const known = looking.get(proof)
    if (known !== undefined) return known
    count()
    const look = parts.verify(hash, password).finally(() => looking.delete(proof))
    looking.set(proof, look)
    const right = await look
    if (right && hash !== null) proven.set(proof, true)
    return right
  }

  /** @throws Refusal 1101 for whatever is wrong with it, so that nobody learns which names there are */
  const signedIn = async ({ username, password }: NonNullable<TokenAsk['login']>, ip: string): Promise<Actor> => {
    const key = `${ip} ${username.toLowerCase()}`
    const refuseMany = (): void => {
      if ((guesses.get(key) ?? 0) >= guessesMost) throw new Refusal('tooManyRequests', { values: { seconds: Math.ceil(guesses.getRemainingTTL(key) / 1000) } })
    }
    /** @throws Refusal tooManyRequests */
    const count = (): void => {
      refuseMany()
      guesses.set(key, (guesses.get(key) ?? 0) + 1, { noDisposeOnSet: true })
    }
    refuseMany()
    if (parts.isAccessKey(password)) {
      const actor = await parts.ofAccessKey(password, ip)
      if (actor === null) {
        count()
        throw new Refusal('passwordMismatch')
      }
      return actor
    }
    const row = await registries.userNamed(db, username)
    if (!(await verified(row?.hash ?? null, username, password, count)) || row === undefined) throw new Refusal('passwordMismatch')
    const actor = await parts.personOf(row.user_id)
    if (actor === null) throw new Refusal('passwordMismatch')
    guesses.delete(key)
    void registries.noteUse(db, row.user_id, now()).catch(() => undefined)
    return actor
  }

  /** Roles, policies and the organisation, as before the call that does the same. */
  const may = async (
    actor: Actor,
    call: Call,
    project: ProjectForToken,
    name: string,
    request: FastifyRequest,
    tags: Authorising['tags'],
  ): Promise<boolean> => {
    if (!isPlatformKind(actor.kind) && (actor.bp_id === null || actor.bp_id !== project.bp_id)) return false
    if (!mayAccess(call.access, actor)) return false
    const params = { id: project.registry_id, pid: project.id, name }
    return (await decideCall(actor, call, { params }, contextOf(actor, request), (kind, id) => tags(scopeOf(actor), kind, id))).outcome === 'allowed'
  }

  /** Of one that is full, or whose organisation has nothing to pay with. @throws Refusal */
  const refuseMore = async ({ bp_id, quota_bytes, used_bytes }: ProjectForToken): Promise<void> => {
    if (quota_bytes !== null && used_bytes >= quota_bytes)
      throw new Refusal('registryQuotaExceeded', { values: { used: sizeText(used_bytes), limit: sizeText(quota_bytes) } })
    if (bp_id !== null) await unrecorded(() => db.transaction().execute((tx) => parts.mayMake(tx, bp_id)))
  }

  /** What of it is granted: less than was asked for, or nothing, and no word of why. @throws Refusal where the project is full */
  const granted = async (
    scope: RegistryScope,
    registryId: string,
    actor: Actor | null,
    request: FastifyRequest,
    tags: Authorising['tags'],
  ): Promise<RegistryScope> => {
    const nothing = { ...scope, actions: [] }
    // `_catalog` tells of all that there is.
    if (scope.type === 'registry') {
      if (actor === null || !isPlatformKind(actor.kind) || scope.name !== 'catalog') return nothing
      const decision = await decideCall(actor, repositories.all, { params: { id: registryId } }, contextOf(actor, request), (kind, id) =>
        tags(scopeOf(actor), kind, id),
      )
      return decision.outcome === 'allowed' ? scope : nothing
    }
    const names = partsOf(scope.name)
    const project = names === null ? undefined : await projectForToken(db, registryId, names.project)
    if (names === null || project === undefined) return nothing
    const wanted = scope.actions.flatMap((action) => (action === '*' ? (['pull', 'push', 'delete'] as const) : [action]))
    const actions: RegistryScope['actions'][number][] = []
    for (const action of new Set(wanted)) {
      if (action === 'pull' && project.visibility === 'public') actions.push(action)
      // By its digest what must not move would go, too; who may delete it does so by a call.
      else if (action === 'delete' && project.immutable_tags.length > 0) continue
      else if (actor !== null && (await may(actor, callOf[action], project, names.repository, request, tags))) actions.push(action)
    }
    if (actions.includes('push')) await refuseMore(project)
    return { ...scope, actions }
  }

  /** What is pushed while space is freed would be taken for what nothing leads to. */
  const refuseCollecting = async (registryId: string): Promise<void> => {
    const at = now()
    if (!(await registries.notePush(db, registryId, at, new Date(at.getTime() + (tokenSeconds + leewaySeconds) * 1_000))))
      throw new Refusal('registryCollecting')
  }

  const sign = async (registryId: string, actor: Actor | null, scopes: readonly RegistryScope[]): Promise<TokenAnswer & { expires_at: string }> => {
    const { token, issuedAt, expiresAt } = await parts.tokens.sign({ registryId, subject: actor?.name ?? '', scopes })
    return {
      token,
      access_token: token,
      expires_in: Math.floor((expiresAt.getTime() - issuedAt.getTime()) / 1000),
      issued_at: issuedAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    }
  }

  return {
    /** What a program asks for by the registry's own way. */
    async issue({ service, scope, login }: TokenAsk, request: FastifyRequest, tags: Authorising['tags']): Promise<TokenAnswer> {
      const registry = /^[0-9a-f-]{36}$/.test(service) ? await registries.getRegistry(db, service) : undefined
      if (registry === undefined || registry.status !== 'active' || !registry.ours) throw new Refusal('registryUnknown', { field: 'service' })
      const actor = login === null ? null : await signedIn(login, request.ip)
      if (actor?.must_change_password === true) throw new Refusal('initialPasswordUnchanged')
      const scopes: RegistryScope[] = []
      for (const one of parseScopes(scope)) scopes.push(await granted(one, registry.id, actor, request, tags))
      // What is deleted is put back where it rests in a bin.
      if (scopes.some(({ actions }) => actions.includes('push') || actions.includes('delete'))) await refuseCollecting(registry.id)
      return sign(registry.id, actor, scopes)
    },

    /** What a call asks for that was allowed already. */
    async signFor(registryId: string, actor: Actor, name: string, actions: RegistryScope['actions']) {
      if (actions.includes('push')) {
        const project = await projectForToken(db, registryId, partsOf(name)?.project ?? '')
        if (project !== undefined) await refuseMore(project)
        await refuseCollecting(registryId)
      }
      return sign(registryId, actor, [{ type: 'repository', name, actions }])
    },
  }
}
