import { starterKeys, starters } from '@zhisuan/contract/aos/starters'
import { templates } from '@zhisuan/contract/aos/stack'
import { expect, it } from 'vitest'
import { checkCompose, prepare, termsOf, valuesOf } from '../compose/compose.ts'

const tenant = { kind: 2, bp_id: 'o' }

it.each(starterKeys)('%s is a template that a tenant saves as it is, and deploys on somebody else’s node', (key) => {
  const { compose, variables } = starters[key]
  const { body } = templates.create
  const template = body.parse({ name: key, version: '1.0', compose, variables: variables.map((one) => ({ ...one })) })
  const declared = new Set(template.variables.map(({ name }) => name))
  const { problems, variables: used } = checkCompose(template.compose, termsOf(tenant, null, 'any'), declared)
  expect(problems).toEqual([])
  expect(new Set(used)).toEqual(declared)
  const given = Object.fromEntries(template.variables.filter(({ default: fallback }) => fallback === null).map(({ name }) => [name, 'x']))
  expect(prepare(template.compose, valuesOf(template.variables, given), termsOf(tenant, [{ bp_id: null }], [])).services).toHaveLength(1)
})
