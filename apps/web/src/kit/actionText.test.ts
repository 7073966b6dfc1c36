// A test, which is in no page.
// oxlint-disable-next-line no-restricted-imports
import { allCalls } from '@zhisuan/contract/calls'
import { kindText } from '@zhisuan/contract/kindTexts'
import { describe, expect, it } from 'vitest'
import texts from '../locales/zh/action.ts'

/** Policies are about all that take a token, and the audit log names public ones, too. */
const actions = allCalls.filter(({ access, audit }) => access !== 'public' || audit).map(({ id }) => id)
const named = (names: object, key: string): boolean => Object.hasOwn(names, key)

describe('names of actions', () => {
  it('are there for every family, kind and verb of the calls', () => {
    const missing = actions.flatMap((action) => {
      const [service = '', type = '', ...verb] = action.split('.')
      return [
        ...(named(texts.services, service) ? [] : [`services.${service}`]),
        ...(kindText(action, '') === '' ? [`${service}.${type} in contract/kindTexts.ts`] : []),
        ...(named(texts.verbs, verb.join('.')) ? [] : [`verbs.${verb.join('.')}`]),
      ]
    })
    expect([...new Set(missing)], 'add them to locales/zh/action.ts').toEqual([])
  })
})
