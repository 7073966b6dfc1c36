import type { CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import { conditionOperators, operatorParts, policyLanguage } from '@zhisuan/contract/policy/document'
import { contextKeys, tagPrefixes } from '@zhisuan/contract/policy/keys'

/** A name with what people call it. */
export interface Named {
  readonly value: string
  readonly text: string
}

/** What can stand in a policy. */
export interface Completions {
  readonly actions: readonly Named[]
  readonly resources: readonly Named[]
  readonly operators: (operator: string) => string
  readonly keys: (key: string) => string
  /** Beside those that every request has. */
  readonly customKeys?: readonly string[]
}

/** A policy is parsed in a few milliseconds; nobody waits longer for a suggestion. */
const parseMs = 500

type Node = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>

const statementParts = ['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource', 'Condition']

/** Names of the properties around a place, the outermost first. */
function pathOf(state: EditorState, node: Node): readonly string[] {
  const path: string[] = []
  for (let at: Node | null = node; at !== null; at = at.parent) {
    const name = at.name === 'Property' ? at.getChild('PropertyName') : null
    // Of the name that is being written only what is around it counts.
    if (name !== null && name.from !== node.from) path.unshift(state.sliceDoc(name.from + 1, name.to - 1))
  }
  return path
}

function namesFor(path: readonly string[]): readonly string[] | 'operators' | 'keys' {
  const [first, second] = path
  if (first === undefined) return ['Version', 'Statement']
  if (first !== 'Statement') return []
  if (second === undefined) return statementParts
  if (second !== 'Condition') return []
  return path.length === 2 ? 'operators' : path.length === 3 ? 'keys' : []
}

/** Completes within quotes: names of properties by where they stand, values by their property. */
export function policyCompletion({ actions, resources, operators, keys, customKeys = [] }: Completions): CompletionSource {
  const plain = (names: readonly string[]): readonly Named[] => names.map((value) => ({ value, text: '' }))
  const allKeys = [...Object.keys(contextKeys), ...tagPrefixes, ...customKeys].map((value) => ({ value, text: keys(value) }))
  const variables = Object.keys(contextKeys).map((key) => ({ value: `\${${key}}`, text: keys(key) }))
  const allOperators = conditionOperators.map((value) => ({ value, text: operators(value) }))

  const valuesFor = (path: readonly string[]): readonly Named[] => {
    const [first, second, operator] = path
    if (first === 'Version' && path.length === 1) return plain([policyLanguage])
    if (first !== 'Statement') return []
    if (second === 'Effect') return plain(['Allow', 'Deny'])
    if (second === 'Action' || second === 'NotAction') return actions
    if (second === 'Resource' || second === 'NotResource') return [...resources, ...variables]
    if (second !== 'Condition' || path.length < 4) return []
    const compared = operatorParts(operator ?? '')?.operator
    return compared === 'Bool' || compared === 'Null' ? plain(['true', 'false']) : variables
  }

  return ({ state, pos }: CompletionContext): CompletionResult | null => {
    // Else it is parsed beside the typing, as far as there was time.
    const node = (ensureSyntaxTree(state, state.doc.length, parseMs) ?? syntaxTree(state)).resolveInner(pos, -1)
    if ((node.name !== 'String' && node.name !== 'PropertyName') || pos <= node.from) return null
    const written = state.sliceDoc(node.from, node.to)
    const closed = written.length > 1 && written.endsWith('"')
    if (closed && pos === node.to) return null
    const path = pathOf(state, node)
    const names = node.name === 'PropertyName' ? namesFor(path) : null
    const options = names === null ? valuesFor(path) : names === 'operators' ? allOperators : names === 'keys' ? allKeys : plain(names)
    if (options.length === 0) return null
    return {
      from: node.from + 1,
      to: closed ? node.to - 1 : node.to,
      options: options.map(({ value, text }) => ({ label: value, type: names === null ? 'constant' : 'property', ...(text !== '' && { detail: text }) })),
      validFor: /^[\w.*?:${}/-]*$/,
    }
  }
}
