import type { Template, Variable } from '@zhisuan/contract/aos/stack'
import { starters, type Starter, type StarterKey } from '@zhisuan/contract/aos/starters'
import type { TFunction } from 'i18next'

/** One of ours, as the form of templates begins with it. */
export function starterTemplate(t: TFunction<'application'>, key: StarterKey): Pick<Template, 'name' | 'description' | 'compose' | 'variables'> {
  const { compose, variables }: Starter = starters[key]
  return {
    name: key,
    description: t(`starter.of.${key}.note`),
    compose,
    variables: variables.map((one): Variable => ({ ...one, choices: [...one.choices], label: t(`starter.variable.${one.name}`) })),
  }
}
