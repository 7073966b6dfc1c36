import { nodeStacks, stacks, templates } from '@zhisuan/contract/aos/stack'
import { configs } from '@zhisuan/contract/cis/container'
import type { Call } from '@zhisuan/contract/define'
import { policies } from '@zhisuan/contract/iam/policy'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from './testing/app.ts'
import { longBodies, slowAnswers, type LongBody } from './testing/longest.ts'
import { someone } from './testing/people.ts'

/** What is read as a file; each field of each call: longest.long.test.ts. */
describe('a file that a person sends', () => {
  let app: TestApp
  let token: string
  beforeAll(async () => {
    app = await testApp()
    token = (await someone(app)).token
  })
  afterAll(() => app.close())

  const those = function* (call: Call, name: string): Generator<LongBody> {
    for (const body of longBodies(call)) if (body.field.path[0] === name) yield body
  }
  it.each<readonly [string, Call, string]>([
    ['checked', stacks.validate, 'compose'],
    ['a template', templates.create, 'compose'],
    ['a stack', stacks.create, 'compose'],
    ['a stack of a node', nodeStacks.create, 'compose'],
    ['a config', configs.put, 'content'],
    ['a policy', policies.check, 'document'],
  ])('%s, whatever is in it, keeps nobody else waiting', async (_, call, name) => {
    expect(await slowAnswers(app, call, async () => token, those(call, name))).toEqual([])
  })

  it('a policy of as many patterns as there may be, too', async () => {
    const field = { path: ['document'], kind: 'text', most: 0, schema: policies.check.body } as const
    const documents = ['?*', '*?*?*?', '*a*b*c*d*', '*a*e*z*'.repeat(8), '*', 'nextstack.vm.start'].map((pattern) => {
      const actions = Array.from({ length: 200 }, () => pattern)
      const count = Math.max(1, Math.floor(15_000 / JSON.stringify(actions).length))
      const Statement = Array.from({ length: count }, () => ({ Effect: 'Allow', Action: actions, Resource: '*' }))
      return { field, what: pattern, body: JSON.stringify({ document: { Version: policyLanguage, Statement } }) }
    })
    expect(await slowAnswers(app, policies.check, async () => token, documents)).toEqual([])
  })
})
