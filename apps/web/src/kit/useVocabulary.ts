import { resourceTypes, services, type ResourceType, type Service } from '@zhisuan/contract/iam/service'
import type { PolicyVocabulary } from '@zhisuan/contract/policy/problems'
import { useMemo } from 'react'
import { useCall } from '../api/hooks.ts'
import type { ApiError } from '../api/client.ts'

/** What policies can be about. */
export interface Vocabulary {
  readonly services: readonly Service[]
  /** Ids of all actions. */
  readonly actions: readonly string[]
  /** Kinds of resources, with the name of those of whoever asks. */
  readonly types: readonly (ResourceType & { readonly own: string })[]
  /** What is offered where an action is written: each action, and wildcards for what belongs together. */
  /** Condition keys of services that are not ours, with what is said of them. */
  readonly keys: readonly { readonly key: string; readonly description: string }[]
  /** The same for the judge of documents. */
  readonly known: PolicyVocabulary
  readonly patterns: readonly { readonly pattern: string; readonly of: 'everything' | 'service' | 'type' | 'action' }[]
}

/** @param name `zrn:nextstack:{organisation}:vm/{id}`; whatever else is in braces stands for any too */
export const nameWith = (name: string, organisation: string, id = '*'): string =>
  name.replace(/\{(\w+)\}/g, (_, part: string) => (part === 'organisation' ? organisation : part === 'id' ? id : '*'))

/** The organisation of whoever asks, as policies write it. */
// oxlint-disable-next-line no-template-curly-in-string
export const ownOrganisation = '${zs:OrganisationId}'

function vocabularyOf(all: readonly Service[], types: readonly ResourceType[]): Vocabulary {
  const actions = all.flatMap((service) => service.actions.map(({ id }) => id))
  const keys = all.flatMap((service) => service.condition_keys)
  return {
    services: all,
    actions,
    keys,
    known: { actions, types: types.map(({ id }) => id), keys: Object.fromEntries(keys.map(({ key, type }) => [key, type])) },
    types: types.map((type) => ({ ...type, own: nameWith(type.name, ownOrganisation) })),
    patterns: [
      { pattern: '*', of: 'everything' },
      ...all.map(({ id }) => ({ pattern: `${id}.*`, of: 'service' as const })),
      ...types.map(({ id }) => ({ pattern: `${id}.*`, of: 'type' as const })),
      ...actions.map((pattern) => ({ pattern, of: 'action' as const })),
    ],
  }
}

/** Services and kinds of resources as the server has them: its own, and those that administrators made. */
export function useVocabulary(): { readonly vocabulary: Vocabulary | undefined; readonly error: ApiError | null; readonly retry: () => void } {
  const known = useCall(services.list, {}, { silent: true })
  const types = useCall(resourceTypes.list, {}, { silent: true })
  const vocabulary = useMemo(
    () => (known.data === undefined || types.data === undefined ? undefined : vocabularyOf(known.data.items, types.data.items)),
    [known.data, types.data],
  )
  return {
    vocabulary,
    error: known.error ?? types.error,
    retry: () => {
      void known.refetch()
      void types.refetch()
    },
  }
}
