import { json } from '@codemirror/lang-json'
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { MergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { useEditorPhrases } from '../../kit/codeEditorView.tsx'
import './iam.css'
import '../../kit/codeEditor.css'

interface Side {
  readonly label: string
  readonly text: string
}

/** Two documents beside each other, what differs marked in both. */
export default function DocumentDiffView({ left, right }: { readonly left: Side; readonly right: Side }) {
  const phrases = useEditorPhrases()
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current: parent } = host
    if (parent === null) return undefined
    const side = (label: string, text: string) => ({
      doc: text,
      extensions: [
        lineNumbers(),
        syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
        json(),
        EditorState.readOnly.of(true),
        EditorState.phrases.of(phrases),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true' }),
      ],
    })
    const view = new MergeView({ parent, a: side(left.label, left.text), b: side(right.label, right.text), collapseUnchanged: { margin: 3, minSize: 8 } })
    return () => view.destroy()
  }, [phrases, left.label, left.text, right.label, right.text])
  return (
    <>
      <div className="ia-sides" aria-hidden="true">
        <span>{left.label}</span>
        <span>{right.label}</span>
      </div>
      <div ref={host} className="zs-editor zs-editor-read" />
    </>
  )
}
