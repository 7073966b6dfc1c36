import { compilePattern } from '@zhisuan/contract/policy/pattern'
import type { ReactNode } from 'react'
import type { Vocabulary } from '../../../kit/useVocabulary.ts'

export interface ActionNode {
  readonly value: string
  readonly title: ReactNode
  /** How it is called where it is chosen, away from what is around it. */
  readonly tag: string
  /** What a search looks into. */
  readonly search: string
  /** It is within another pattern that is chosen. */
  readonly disableCheckbox: boolean
  /** antd wants it so. */
  readonly children?: ActionNode[]
}

export interface ActionTexts {
  readonly everything: string
  readonly service: (id: string) => string
  readonly type: (id: string) => string
  readonly verb: (id: string) => string
  readonly tag: (name: string, pattern: string) => string
  /** How a node looks. */
  readonly title: (name: string, pattern: string) => ReactNode
}

const isPattern = (text: string): boolean => /[*?]/.test(text)

/** Whether all that one pattern means is meant by another: a pattern's own stars are characters like others to it. */
export const covers = (wide: string, narrow: string): boolean => wide !== narrow && isPattern(wide) && compilePattern(wide).matches(narrow, {})

/** Everything, families, kinds and actions: each a pattern of its own, so that choosing all of a family is not choosing what it will have one day. */
export function actionTree({ services }: Vocabulary, texts: ActionTexts, chosen: readonly string[]): ActionNode[] {
  const node = (value: string, name: string, children?: ActionNode[]): ActionNode => ({
    value,
    title: texts.title(name, value),
    tag: texts.tag(name, value),
    search: `${name} ${value}`.toLowerCase(),
    disableCheckbox: chosen.some((one) => covers(one, value)),
    ...(children !== undefined && { children }),
  })
  return [
    node(
      '*',
      texts.everything,
      services.map((service) =>
        node(
          `${service.id}.*`,
          texts.service(service.id),
          [...Map.groupBy(service.actions, ({ resource_type }) => resource_type)].map(([type, actions]) =>
            node(
              `${type}.*`,
              texts.type(type),
              actions.map(({ id }) => node(id, texts.verb(id))),
            ),
          ),
        ),
      ),
    ),
  ]
}

/** What was chosen, without what is within something of it. */
export const withoutCovered = (chosen: readonly string[]): readonly string[] => chosen.filter((one) => !chosen.some((other) => covers(other, one)))
