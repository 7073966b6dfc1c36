import { yaml } from '@codemirror/lang-yaml'
import { CodeEditorView, type CodeEditorProps } from '../../kit/codeEditorView.tsx'

const language = yaml()

/** The chunk of {@link CodeEditor}. */
export default function YamlEditorView(props: CodeEditorProps) {
  return <CodeEditorView {...props} language={language} />
}
