import { CompletionContext } from '@codemirror/autocomplete'
import { json } from '@codemirror/lang-json'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { policyCompletion } from './completion.ts'

const source = policyCompletion({
  actions: [{ value: 'a.b.c', text: '甲' }],
  resources: [{ value: '*', text: '所有' }],
  operators: (operator) => `运算 ${operator}`,
  keys: (key) => `键 ${key}`,
})

/** What is offered where `|` stands, and what would be replaced. */
async function offered(marked: string): Promise<{ labels: readonly string[]; replaced: string } | null> {
  const pos = marked.indexOf('|')
  const state = EditorState.create({ doc: marked.replace('|', ''), extensions: [json()] })
  const result = await source(new CompletionContext(state, pos, false))
  return result === null ? null : { labels: result.options.map(({ label }) => label), replaced: state.sliceDoc(result.from, result.to) }
}
const within = (inner: string) => `{"Version": "x", "Statement": [{${inner}}]}`

describe('completion', () => {
  it('knows where a name of a property stands', async () => {
    expect((await offered('{"|"}'))?.labels).toEqual(['Version', 'Statement'])
    expect((await offered(within('"Eff|"')))?.labels).toContain('Effect')
    expect((await offered(within('"Condition": {"Str|"}')))?.labels).toContain('StringLike')
    expect((await offered(within('"Condition": {"StringLike": {"zs|"}}')))?.labels).toContain('zs:SourceIp')
  })

  it('offers values by their property, and replaces the whole of one', async () => {
    expect(await offered(within('"Effect": "A|llow"'))).toEqual({ labels: ['Allow', 'Deny'], replaced: 'Allow' })
    expect(await offered(within('"Action": ["x.y", "a.|"]'))).toEqual({ labels: ['a.b.c'], replaced: 'a.' })
    expect((await offered(within('"Resource": "|"')))?.labels).toEqual(expect.arrayContaining(['*', '${zs:OrganisationId}']))
    expect((await offered(within('"Condition": {"Bool": {"zs:MfaPresent": "|"}}')))?.labels).toEqual(['true', 'false'])
  })

  it('offers nothing outside quotes and in what it does not know', async () => {
    expect(await offered(within('"Effect": |"Allow"'))).toBeNull()
    expect(await offered(within('"Effect": "Allow"|'))).toBeNull()
    expect(await offered(within('"Extra": "|"'))).toBeNull()
  })
})
