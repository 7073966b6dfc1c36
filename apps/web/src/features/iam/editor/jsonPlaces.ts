import { jsonLanguage } from '@codemirror/lang-json'
import type { PolicyProblem } from '@zhisuan/contract/policy/problems'
import type { CodeProblem } from '../../../kit/codeEditorView.tsx'

type Node = ReturnType<typeof jsonLanguage.parser.parse>['topNode']

const values: ReadonlySet<string> = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null'])

function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child)
  return children
}

const valueOf = (node: Node): Node | undefined => childrenOf(node).find(({ name }) => values.has(name))

/** As written in quotes; what cannot be read is nothing. */
function readName(text: string, node: Node): string | null {
  try {
    return String(JSON.parse(text.slice(node.from, node.to)))
  } catch {
    return null
  }
}

/** The innermost thing on the path that is written: a missing property is told at its object. */
function nodeAt(text: string, root: Node, path: PolicyProblem['path']): Node {
  let at = valueOf(root) ?? root
  for (const part of path) {
    let next: Node | undefined
    if (typeof part === 'number') next = childrenOf(at).filter(({ name }) => values.has(name))[part]
    else {
      const property = childrenOf(at).find((one) => one.name === 'Property' && one.firstChild !== null && readName(text, one.firstChild) === part)
      // The name itself may be what is wrong, as an operator's; it stands on the line of its value.
      next = property === undefined ? undefined : (valueOf(property) ?? property)
    }
    if (next === undefined) return at
    at = next
  }
  return at
}

const lineOf = (text: string, offset: number): Pick<CodeProblem, 'line' | 'column'> => {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/** Problems at their lines, in the order of the text. */
export function placeProblems(text: string, problems: readonly PolicyProblem[]): readonly CodeProblem[] {
  const root = jsonLanguage.parser.parse(text).topNode
  return problems
    .map(({ path, message }) => ({ ...lineOf(text, nodeAt(text, root, path).from), message, severity: 'error' as const }))
    .toSorted((left, right) => left.line - right.line || left.column - right.column)
}

/** Where a text stops being JSON. */
export function syntaxProblem(text: string, message: string): CodeProblem {
  let offset: number | null = null
  jsonLanguage.parser.parse(text).iterate({
    enter: ({ type, from }) => {
      if (type.isError && offset === null) offset = from
    },
  })
  return { ...lineOf(text, offset ?? text.length), message, severity: 'error' }
}
