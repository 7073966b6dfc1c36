import { expect, it } from 'vitest'
import { loaders, present } from './namespaces.ts'

const sources: Readonly<Record<string, string>> = import.meta.glob('./zh/*.ts', { query: '?raw', import: 'default', eager: true })
const { words = '', ...namespaces } = Object.fromEntries(Object.entries(sources).map(([file, text]) => [file.slice('./zh/'.length, -'.ts'.length), text]))

it('every file of messages can be loaded', () => {
  expect(Object.keys(namespaces).toSorted()).toEqual([...Object.keys(present), ...Object.keys(loaders)].toSorted())
})

/** Names that are the same in every language (CPU, GB) say themselves. */
const texts = (source: string) => [...source.matchAll(/'([^'\n]*\p{Script=Han}[^'\n]*)'/gu)].map(([, text = '']) => text)

it('what four namespaces say stands once, in words.ts', () => {
  const saidBy = new Map<string, Set<string>>()
  for (const [namespace, source] of Object.entries(namespaces)) {
    for (const text of texts(source)) saidBy.set(text, (saidBy.get(text) ?? new Set()).add(namespace))
  }
  const shared = new Set(texts(words))
  expect(saidBy.size).toBeGreaterThan(1000)
  expect([...saidBy].filter(([text, by]) => by.size >= 4 || shared.has(text)).map(([text, by]) => `${text}: ${[...by].join(', ')}`)).toEqual([])
})

it('words are said by several namespaces', () => {
  const all = Object.values(namespaces)
  const lonely = [...words.matchAll(/^export const (\w+) = /gm)].filter(
    ([, key = '']) => all.filter((source) => new RegExp(`words\\.${key}\\b`).test(source)).length < 2,
  )
  expect(lonely.map(([, key]) => key)).toEqual([])
})

// As the specification's menu calls it. What runs in the first family is a 云主机.
it('what runs in an OpenStack is called 实例, and only that', () => {
  const family = Object.entries(namespaces).filter(([namespace]) => namespace.startsWith('compute'))
  expect(family.length).toBeGreaterThan(5)
  expect(family.filter(([, source]) => /云主机|words\.(?:vm|createVm|chooseVm|vmSnapshot)\b/.test(source)).map(([namespace]) => namespace)).toEqual([])
})
