import { z } from 'zod'
import { isEngineError } from '../errors.ts'
import { all, type Query, type Session } from './session.ts'

const text = z.string().nullish()

const project = z
  .object({ id: z.string(), name: z.string(), domain_id: text, description: text, enabled: z.boolean().nullish(), tags: z.array(z.string()).nullish() })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name,
    domainId: raw.domain_id ?? null,
    description: raw.description ?? '',
    enabled: raw.enabled !== false,
    tags: raw.tags ?? [],
  }))
/** Keystone's project: what of ours becomes one, decides whoever calls. */
export type KeystoneProject = z.output<typeof project>

const user = z
  .object({ id: z.string(), name: z.string(), domain_id: text, enabled: z.boolean().nullish() })
  .transform((raw) => ({ id: raw.id, name: raw.name, domainId: raw.domain_id ?? null, enabled: raw.enabled !== false }))
export type KeystoneUser = z.output<typeof user>

const role = z.object({ id: z.string(), name: z.string() })
export type KeystoneRole = z.output<typeof role>

const at = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`

/** Keystone (Identity API v3, https://docs.openstack.org/api-ref/identity/v3/). */
export function createIdentity(session: Session) {
  const projects = {
    /** @param query filters: `name`, `domain_id`, `enabled`, `tags` … */
    list: (query: Query = {}, signal?: AbortSignal) => session.pages('identity', { path: '/projects', key: 'projects', schema: project, query, signal }),
    async get(id: string, signal?: AbortSignal): Promise<KeystoneProject> {
      return (await session.json('identity', z.object({ project }), { path: at('projects', id), signal })).project
    },
    async create(wish: { name: string; domainId: string; description?: string; tags?: readonly string[] }, signal?: AbortSignal): Promise<KeystoneProject> {
      const body = {
        project: {
          name: wish.name,
          domain_id: wish.domainId,
          ...(wish.description !== undefined && { description: wish.description }),
          ...(wish.tags !== undefined && { tags: wish.tags }),
        },
      }
      return (await session.json('identity', z.object({ project }), { method: 'POST', path: '/projects', body, signal })).project
    },
    /** The one of that name, made where there is none; two that ask at once get the same. */
    async ensure(wish: { name: string; domainId: string; description?: string; tags?: readonly string[] }, signal?: AbortSignal): Promise<KeystoneProject> {
      const find = async () => (await all(projects.list({ name: wish.name, domain_id: wish.domainId }, signal)))[0]
      const there = await find()
      if (there !== undefined) return there
      try {
        return await projects.create(wish, signal)
      } catch (error) {
        if (!isEngineError(error, 'conflict')) throw error
        const made = await find()
        if (made === undefined) throw error
        return made
      }
    },
    async update(id: string, changes: { name?: string; description?: string; enabled?: boolean }, signal?: AbortSignal): Promise<KeystoneProject> {
      return (await session.json('identity', z.object({ project }), { method: 'PATCH', path: at('projects', id), body: { project: changes }, signal })).project
    },
    /** What the other services have under it stays, and is nobody's: empty it first. */
    delete: (id: string, signal?: AbortSignal) => session.done('identity', { method: 'DELETE', path: at('projects', id), signal }),
  }
  return {
    projects,
    users: {
      list: (query: Query = {}, signal?: AbortSignal) => session.pages('identity', { path: '/users', key: 'users', schema: user, query, signal }),
      async create(wish: { name: string; domainId: string; password: string; description?: string }, signal?: AbortSignal): Promise<KeystoneUser> {
        const body = {
          user: {
            name: wish.name,
            domain_id: wish.domainId,
            password: wish.password,
            ...(wish.description !== undefined && { description: wish.description }),
          },
        }
        return (await session.json('identity', z.object({ user }), { method: 'POST', path: '/users', body, signal })).user
      },
      /** Ends all its tokens. */
      setPassword: (id: string, password: string, signal?: AbortSignal) =>
        session.done('identity', { method: 'PATCH', path: at('users', id), body: { user: { password } }, signal }),
      delete: (id: string, signal?: AbortSignal) => session.done('identity', { method: 'DELETE', path: at('users', id), signal }),
    },
    roles: {
      list: (query: Query = {}, signal?: AbortSignal) => session.pages('identity', { path: '/roles', key: 'roles', schema: role, query, signal }),
      /** Done already is done. */
      grant: (where: { projectId: string; userId: string; roleId: string }, signal?: AbortSignal) =>
        session.done('identity', { method: 'PUT', path: at('projects', where.projectId, 'users', where.userId, 'roles', where.roleId), signal }),
      revoke: (where: { projectId: string; userId: string; roleId: string }, signal?: AbortSignal) =>
        session.done('identity', { method: 'DELETE', path: at('projects', where.projectId, 'users', where.userId, 'roles', where.roleId), signal }),
      /** Projects in which a user has any role: their own, that of a group, or an inherited one. For administrators. */
      async projectsOf(userId: string, signal?: AbortSignal): Promise<ReadonlySet<string>> {
        const schema = z.object({ role_assignments: z.array(z.object({ scope: z.object({ project: z.object({ id: z.string() }).nullish() }) })) })
        const query = { 'user.id': userId, effective: true }
        const { role_assignments } = await session.json('identity', schema, { path: '/role_assignments', query, signal })
        return new Set(role_assignments.flatMap(({ scope }) => scope.project?.id ?? []))
      },
    },
    applicationCredentials: {
      /** For the session's own user and project. @returns with the secret: it is told this once */
      async create(
        userId: string,
        wish: { name: string; roles?: readonly string[]; expiresAt?: Date },
        signal?: AbortSignal,
      ): Promise<{ id: string; secret: string }> {
        const body = {
          application_credential: {
            name: wish.name,
            ...(wish.roles !== undefined && { roles: wish.roles.map((name) => ({ name })) }),
            ...(wish.expiresAt !== undefined && { expires_at: wish.expiresAt.toISOString().replace('Z', '') }),
          },
        }
        const answer = await session.json('identity', z.object({ application_credential: z.object({ id: z.string(), secret: z.string() }) }), {
          method: 'POST',
          path: at('users', userId, 'application_credentials'),
          body,
          signal,
        })
        return answer.application_credential
      },
      delete: (userId: string, id: string, signal?: AbortSignal) =>
        session.done('identity', { method: 'DELETE', path: at('users', userId, 'application_credentials', id), signal }),
    },
  }
}
export type Identity = ReturnType<typeof createIdentity>
