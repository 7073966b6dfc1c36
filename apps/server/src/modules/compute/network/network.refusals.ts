import type { ErrorName } from '@zhisuan/contract/errors'
import type { EngineErrorKind } from '@zhisuan/engines/errors'
import { OpenStackError } from '@zhisuan/engines/openstack/errors'
import { Refusal } from '../../../platform/errors.ts'

/** What a refusal of Neutron's is to people: of this kind, and of these words where a kind is too coarse. */
export interface Reading {
  readonly kind: EngineErrorKind
  readonly says?: RegExp
  readonly refusal: ErrorName
  /** The field of the request that is at fault. */
  readonly field?: string
  /** What is wrong with that field, where the refusal's own text does not say it. */
  readonly message?: string
  /** What the refusal's text is filled with, by what matched. */
  readonly values?: (match: readonly string[]) => Promise<Record<string, string | number>>
}

/** Says what Neutron refused as ours, at its field; what no reading fits stays as it is. */
export async function read<T>(asked: Promise<T>, readings: readonly Reading[]): Promise<T> {
  try {
    return await asked
  } catch (error) {
    // Of a project that nobody is let into it is said so, whatever was asked.
    if (!(error instanceof OpenStackError) || error.project !== null) throw error
    for (const { kind, says = /^/, refusal, field, message, values } of readings) {
      const match = kind === error.kind ? says.exec(error.message) : null
      if (match === null) continue
      const { cloud, service, requestId: request_id } = error
      throw new Refusal(refusal, {
        cause: error,
        detail: error.words ?? undefined,
        engine: { cloud, service, request_id },
        ...(field !== undefined && (message === undefined ? { field } : { fields: [{ field, message }] })),
        ...(values !== undefined && { values: await values(match) }),
      })
    }
    throw error
  }
}

/** Where Neutron refuses because something is in use, says what: looked at only then, so nothing slips in between. */
export async function unlessUsed(asked: Promise<void>, users: () => Promise<Refusal | null>): Promise<void> {
  try {
    await asked
  } catch (error) {
    if (!(error instanceof OpenStackError) || error.kind !== 'busy') throw error
    throw (await users()) ?? error
  }
}

/** The first few of what stands in the way. */
export const someOf = (names: readonly string[]): string => `${names.slice(0, 3).join('、')}${names.length > 3 ? '…' : ''}`
