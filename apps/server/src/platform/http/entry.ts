import type { Call } from '@zhisuan/contract/define'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../auth/actor.ts'
import type { Note } from '../db/recording.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is found out to ask, or to be meant, of a call that anybody may make. */
    note: Note | null
  }
}

/** That of a request, which begins with nobody. */
export function noteOf(request: FastifyRequest): Note {
  request.note ??= { by: null, tried: null }
  return request.note
}

/** What the audit log is told. */
export interface AuditEntry {
  readonly call: string
  readonly actor: (Pick<Actor, 'user_id' | 'name' | 'bp_id'> & Partial<Pick<Actor, 'access_key'>>) | null
  /** Where nobody acts, of whose account it is. */
  readonly bp_id: string | null
  /** What was made, else the id in the path, where there is one; of a sign-in, whose it was or would have been. */
  readonly object_id: string | null
  readonly request_id: string
  readonly ip: string
  /** 0 for success, `auditAsked` where the outcome is not known yet, else the code of the refusal. */
  readonly code: number
}

/** @param objectId what was made, where that is known */
export function auditEntry(request: FastifyRequest, call: Pick<Call, 'id'>, code: number, objectId: string | null = null): AuditEntry {
  const { by, tried } = noteOf(request)
  const meant = by ?? tried
  return {
    call: call.id,
    actor: request.actor ?? (code === 0 ? by : null),
    bp_id: meant?.bp_id ?? null,
    object_id: objectId ?? idOfPath(request.params) ?? (request.actor === null ? (meant?.user_id ?? null) : null),
    request_id: request.id,
    ip: request.ip,
    code,
  }
}

function idOfPath(params: unknown): string | null {
  if (typeof params !== 'object' || params === null || !('id' in params)) return null
  return typeof params.id === 'string' ? params.id.slice(0, 64) : null
}
