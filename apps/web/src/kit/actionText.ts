import type { Service } from '@zhisuan/contract/iam/service'
import { kindText } from '@zhisuan/contract/kindTexts'
import type { TFunction } from 'i18next'

type T = TFunction<'iam'>

// Names come from the server: that each known one has its text is a test. Asked one by one, as hundreds are shown at once.
const named = (t: T, key: string, otherwise: string): string => t(key as 'services.iam', { defaultValue: otherwise })

/** What people call a family of calls, or what another service was named; of an unknown one its id. */
export const serviceText = (t: T, id: string, known: readonly Pick<Service, 'id' | 'name'>[] = []): string =>
  named(t, `services.${id}`, known.find((service) => service.id === id)?.name ?? id)

/** What `nextstack.vm.start` does: 启动. */
export function verbText(t: T, action: string): string {
  const verb = action.split('.').slice(2).join('.')
  return named(t, `verbs.${verb}`, verb)
}

/** All of it: 云主机 · 启动. */
export const actionText = (t: T, action: string): string => `${kindText(action)} · ${verbText(t, action)}`
