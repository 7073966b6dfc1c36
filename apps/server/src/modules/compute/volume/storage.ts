import type { ComputeStorageMessage } from '@zhisuan/contract/compute/volume'
import type { ErrorName } from '@zhisuan/contract/errors'
import { isEngineError, type EngineErrorKind } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import type { Pages } from '../../../platform/lines.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import type { Changeable } from '../view.ts'

export const gib = 2 ** 30
export const moment = (at: Date | null): string | null => at?.toISOString() ?? null

/** What Cinder makes for a moment is neither the tenant's to see nor theirs to pay. */
export const isLasting = ({ temporary }: { readonly temporary: boolean }): boolean => !temporary

/** The word of a service among those that we know. */
export const known = <const Word extends string>(words: readonly (Word | 'unknown')[], said: string): Word | 'unknown' =>
  words.find((word) => word === said) ?? 'unknown'

/**
 * What the cloud refuses about something that the body names, as a refusal at its field, with the cloud's own words.
 * @param as by what kind of failure it is
 */
export async function refusedAtField<T>(asked: Promise<T>, as: Partial<Record<EngineErrorKind, readonly [refusal: ErrorName, field: string]>>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const known = isEngineError(error) ? as[error.kind] : undefined
    if (known === undefined) throw error
    const { refusal, values, detail, engine } = toRefusal(error)
    // A quota that is used up is called by its name.
    throw new Refusal(refusal === 'computeQuotaExceeded' ? refusal : known[0], {
      field: known[1],
      values: { ...values },
      cause: error,
      detail,
      ...(engine !== undefined && { engine }),
    })
  }
}

/** Something that the body names, looked for through the asker's view: what is not theirs is refused at its field. */
export async function named<T>(asked: Promise<T>, refusal: ErrorName, field: string): Promise<T> {
  try {
    return await refusedAtField(asked, { not_found: [refusal, field] })
  } catch (error) {
    if (error instanceof Refusal && error.refusal === 'notFound') throw new Refusal(refusal, { field, cause: error })
    throw error
  }
}

/**
 * Before something is made beside what is there, in its project: whether its organisation may make anything now.
 * @throws Refusal 24011, 24018
 */
export async function mayMakeBeside(tenancy: Tenancy, actor: Actor, cloudId: string, { place }: Pick<Changeable<unknown>, 'place'>): Promise<void> {
  // What the platform's people make for a tenant is theirs to decide, also where they have an organisation of their own.
  const others = place === null || (place.owner !== null && place.owner.bp_id !== actor.bp_id)
  if (actor.bp_id !== null && !others) await tenancy.placeForMaking(actor, cloudId, place.owner?.project_id ?? null)
}

/** A light list as names by ids, for the `names` of another list's lines. */
export async function* asNames(pages: Pages<{ readonly id: string; readonly name: string }>): AsyncGenerator<(readonly [string, string])[]> {
  for await (const page of pages) yield page.filter(({ name }) => name !== '').map(({ id, name }) => [id, name] as const)
}

/** Of which project what somebody sees is, where the cloud does not say so: whose view it was seen by. */
export const projectSeen = (view: View, cloud: OpenStack): string | null => view.places.find((place) => place.cloud === cloud)?.keystoneId ?? null

/** What few things are called that one of the cloud's names; those that cannot be read now stay without. */
export async function namesOf(asked: readonly Promise<{ readonly id: string; readonly name: string }>[]): Promise<Record<string, string>> {
  const answers = await Promise.allSettled(asked)
  return Object.fromEntries(
    answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value.name !== '' ? [[answer.value.id, answer.value.name] as const] : [])),
  )
}

/** What the cloud told about something, newest first. A cloud that keeps no such messages has none. */
export async function messagesOf(cloud: OpenStack, id: string): Promise<ComputeStorageMessage[]> {
  try {
    const messages = await all(cloud.volume.messages(id))
    return messages
      .map(({ id: own, text, requestId, createdAt }) => ({ id: own, text, at: moment(createdAt), request_id: requestId }))
      .toSorted((a, b) => (b.at ?? '').localeCompare(a.at ?? ''))
  } catch (error) {
    if (isEngineError(error, 'not_found', 'unsupported', 'unauthorized')) return []
    throw error
  }
}
