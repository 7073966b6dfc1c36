import type { RuleObject } from 'antd/es/form'
import { describe, expect, it } from 'vitest'
import { newDocument } from './builderDocument.ts'
import { documentRules, problemsOf, writtenWrong } from './documentProblems.ts'

const known = { actions: ['nextstack.vm.list'] }
const [sent, typed] = documentRules(known)
const judge = async (rule: RuleObject | undefined, text: string): Promise<string> =>
  Promise.resolve(rule?.validator?.({}, text, () => undefined)).then(
    () => 'fine',
    () => 'wrong',
  )
const withActions = (...actions: readonly string[]): string => newDocument.replace('"Action": []', `"Action": ${JSON.stringify(actions)}`)

describe('a new policy', () => {
  it('opens without an error, though it cannot be saved yet', async () => {
    const problems = problemsOf(newDocument, known) ?? []
    expect(problems.length).toBeGreaterThan(0)
    expect(writtenWrong(problems)).toEqual([])
    expect(await judge(typed, newDocument)).toBe('fine')
  })

  it('is refused once it is sent, and only then', async () => {
    expect(sent?.validateTrigger).toBe('onSubmit')
    expect(await judge(sent, newDocument)).toBe('wrong')
    expect(await judge(sent, withActions('nextstack.vm.list'))).toBe('fine')
  })

  it('says at once what was written wrongly', async () => {
    expect(await judge(typed, withActions('nextstack.vm.fly'))).toBe('wrong')
    expect(await judge(typed, '{ "Version": ')).toBe('wrong')
    expect(await judge(typed, withActions('nextstack.vm.list'))).toBe('fine')
  })
})
