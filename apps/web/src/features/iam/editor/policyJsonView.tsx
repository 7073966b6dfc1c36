import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { json, jsonLanguage } from '@codemirror/lang-json'
import { keymap } from '@codemirror/view'
import type { PolicyProblem } from '@zhisuan/contract/policy/problems'
import { useId, useMemo, useRef } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { CodeEditorView, type CodeEditorHandle } from '../../../kit/codeEditorView.tsx'
import { policyCompletion, type Completions } from './completion.ts'
import { placeProblems, syntaxProblem } from './jsonPlaces.ts'
import '../iam.css'

export interface PolicyJsonProps {
  readonly id?: string
  readonly value: string
  readonly onChange: (text: string) => void
  /** Null where the text is no JSON at all. */
  readonly problems: readonly PolicyProblem[] | null
  /** Something is left out, whether it is told or not. */
  readonly unfinished: boolean
  /** Has to stay the same as long as it says the same. */
  readonly completions: Completions
}

/** The document as JSON, and below it what is wrong with it; each problem leads to its line. */
export default function PolicyJsonView({ id, value, onChange, problems, unfinished, completions }: PolicyJsonProps) {
  const { t } = useTranslation('iam')
  const editor = useRef<CodeEditorHandle>(null)
  const listed = useId()
  const language = useMemo(
    () => [
      json(),
      jsonLanguage.data.of({ autocomplete: policyCompletion(completions) }),
      autocompletion({ icons: false }),
      closeBrackets(),
      keymap.of(completionKeymap),
    ],
    [completions],
  )
  const placed = useMemo(() => (problems === null ? [syntaxProblem(value, t('editor.syntax'))] : placeProblems(value, problems)), [problems, value, t])
  return (
    <>
      <CodeEditorView
        ref={editor}
        label={t('editor.jsonLabel')}
        value={value}
        onChange={onChange}
        problems={placed}
        language={language}
        {...(id !== undefined && { id })}
      />
      <div role="status" aria-labelledby={listed} className="ia-problems">
        <span id={listed} className={placed.length > 0 ? '' : 'zs-soft'}>
          {placed.length > 0 ? t('editor.problems', { count: placed.length }) : t(unfinished ? 'editor.unfinished' : 'editor.noProblems')}
        </span>
        {placed.length > 0 && (
          <ul>
            {placed.map(({ line, column, message }) => (
              <li key={`${line}:${column}:${message}`}>
                <button type="button" className="zs-linkbutton" onClick={() => editor.current?.goTo(line, column)}>
                  {t('editor.line', { line })}
                </button>{' '}
                <span className="zs-bad">{message}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </>
  )
}
