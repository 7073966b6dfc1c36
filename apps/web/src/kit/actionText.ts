import type { Service } from '@zhisuan/contract/iam/service'
import { kindText } from '@zhisuan/contract/kindTexts'
import { textsOf } from '../i18n.ts'

const t = textsOf('action')

// Names come from the server: that each known one has its text is a test. Asked one by one, as hundreds are shown at once.
const named = (key: string, otherwise: string): string => t(key as 'services.iam', { defaultValue: otherwise })

/** What people call a family of calls, or what another service was named; of an unknown one its id. */
export const serviceText = (id: string, known: readonly Pick<Service, 'id' | 'name'>[] = []): string =>
  named(`services.${id}`, known.find((service) => service.id === id)?.name ?? id)

/** What `nextstack.vm.start` does: 启动. */
export function verbText(action: string): string {
  const verb = action.split('.').slice(2).join('.')
  return named(`verbs.${verb}`, verb)
}

/** All of it: 云主机 · 启动. */
export const actionText = (action: string): string => `${kindText(action)} · ${verbText(action)}`
