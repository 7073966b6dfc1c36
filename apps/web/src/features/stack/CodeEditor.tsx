import { lazy, Suspense } from 'react'
import type { CodeEditorProps } from '../../kit/codeEditorView.tsx'
import '../../kit/codeEditor.css'

// CodeMirror is a chunk of its own, which only who writes or reads a file loads.
const View = lazy(() => import('./yamlEditorView.tsx'))

/** A YAML file, with numbered lines, what is wrong in it, and what differs from another one. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<div className="zs-editor zs-editor-late zs-late" aria-busy="true" />}>
      <View {...props} />
    </Suspense>
  )
}
