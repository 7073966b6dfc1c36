import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, defaultHighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { unifiedMergeView } from '@codemirror/merge'
import { search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useImperativeHandle, useMemo, useRef, type Ref } from 'react'
import { useTranslation } from '../i18n.ts'
import './codeEditor.css'

/** Line and column from 1. */
export interface CodeProblem {
  readonly line: number
  readonly column: number
  readonly message: string
  readonly severity: 'error' | 'warning'
}

export interface CodeEditorHandle {
  /** Puts the cursor there, and shows it. */
  readonly goTo: (line: number, column: number) => void
}

export interface CodeEditorProps {
  readonly label: string
  readonly id?: string
  readonly value?: string
  /** Absent: it is only read. */
  readonly onChange?: (text: string) => void
  /** Has to stay the same as long as it says the same. */
  readonly problems?: readonly CodeProblem[]
  /** What the text is compared with; its lines that are gone stand between the others. */
  readonly original?: string | undefined
  readonly ref?: Ref<CodeEditorHandle>
}

/** Words of CodeMirror's own. */
export function useEditorPhrases(): Readonly<Record<string, string>> {
  const { t } = useTranslation('kit')
  return useMemo(
    () => ({
      Find: t('editor.find'),
      Replace: t('editor.replace'),
      next: t('editor.next'),
      previous: t('editor.previous'),
      all: t('editor.all'),
      'match case': t('editor.matchCase'),
      regexp: t('editor.regexp'),
      'by word': t('editor.byWord'),
      replace: t('editor.replace'),
      'replace all': t('editor.replaceAll'),
      close: t('editor.close'),
      'current match': t('editor.currentMatch'),
      'on line': t('editor.onLine'),
      '$ unchanged lines': t('editor.unchanged'),
      Diagnostics: t('editor.problems'),
      'No diagnostics': t('editor.noProblems'),
      Completions: t('editor.completions'),
    }),
    [t],
  )
}

const nothingWrong: readonly CodeProblem[] = []

/**
 * CodeMirror in React: the text is the form's, everything else the editor's own. Tab leaves it, as it leaves any field.
 * It is heavy: whoever shows one loads it with its language as a chunk.
 * @param language with what belongs to it, such as completion; has to stay the same
 */
export function CodeEditorView({
  label,
  id,
  value = '',
  onChange,
  problems = nothingWrong,
  original,
  language,
  ref,
}: CodeEditorProps & { readonly language: Extension }) {
  const phrases = useEditorPhrases()
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const changed = useRef(onChange)
  const compared = useRef(new Compartment())
  const readOnly = onChange === undefined
  useEffect(() => {
    changed.current = onChange
  }, [onChange])

  useEffect(() => {
    const { current: parent } = host
    if (parent === null) return undefined
    const extensions: Extension[] = [
      lineNumbers(),
      drawSelection(),
      syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
      language,
      search({ top: true }),
      EditorView.contentAttributes.of({
        'aria-label': label,
        spellcheck: 'false',
        // Browsers focus it anyway; what tells people by its attributes whether they can scroll here asks for this.
        tabindex: '0',
        ...(id !== undefined && { id }),
        ...(readOnly && { 'aria-readonly': 'true' }),
      }),
      EditorState.phrases.of(phrases),
      EditorState.tabSize.of(2),
      EditorView.lineWrapping,
      compared.current.of([]),
      ...(readOnly
        ? [EditorState.readOnly.of(true), keymap.of([...searchKeymap, ...defaultKeymap])]
        : [
            history(),
            bracketMatching(),
            indentOnInput(),
            highlightActiveLine(),
            lintGutter(),
            keymap.of([...searchKeymap, ...defaultKeymap, ...historyKeymap]),
          ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) changed.current?.(update.state.doc.toString())
      }),
    ]
    const made = new EditorView({ parent, state: EditorState.create({ extensions }) })
    view.current = made
    return () => {
      view.current = null
      made.destroy()
    }
  }, [phrases, language, label, id, readOnly])

  useEffect(() => {
    const { current: editor } = view
    if (editor === null || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])

  useEffect(() => {
    const { current: editor } = view
    if (editor === null) return
    const comparing =
      original === undefined ? [] : unifiedMergeView({ original, mergeControls: false, ...(readOnly && { collapseUnchanged: { margin: 3, minSize: 6 } }) })
    // What it was compared with before has to go first: the comparison keeps what it began with.
    editor.dispatch({ effects: compared.current.reconfigure([]) })
    editor.dispatch({ effects: compared.current.reconfigure(comparing) })
  }, [original, readOnly])

  useEffect(() => {
    const { current: editor } = view
    if (editor === null || readOnly) return
    const { state } = editor
    const diagnostics = problems.map(({ line, column, message, severity }) => {
      const at = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines))
      return { from: Math.min(at.from + Math.max(column - 1, 0), at.to), to: at.to, message, severity }
    })
    editor.dispatch(setDiagnostics(state, diagnostics))
  }, [problems, readOnly])

  useImperativeHandle(ref, () => ({
    goTo: (line, column) => {
      const { current: editor } = view
      if (editor === null) return
      const at = editor.state.doc.line(Math.min(Math.max(line, 1), editor.state.doc.lines))
      editor.dispatch({ selection: { anchor: Math.min(at.from + Math.max(column - 1, 0), at.to) }, scrollIntoView: true })
      editor.focus()
    },
  }))

  return <div ref={host} className={readOnly ? 'zs-editor zs-editor-read' : 'zs-editor'} />
}
