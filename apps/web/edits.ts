import type { ESTree } from 'vite'

/** Where something stands in a source. */
export type Span = Pick<ESTree.Node, 'start' | 'end'>
/** What comes in its place. */
export type Edit = Span & { readonly text: string }

/** A source with these edits made; outer ones win over what they hold. */
export function edited(code: string, edits: readonly Edit[]): string {
  let at = 0
  let text = ''
  for (const edit of edits.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (edit.start < at) continue
    text += code.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return text + code.slice(at)
}
