import { useId, useRef } from 'react'
import type { ComposeProblem } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { CodeEditor } from './CodeEditor.tsx'
import type { CodeEditorHandle } from '../../kit/codeEditorView.tsx'
import type { Controlled } from '../../kit/fields.tsx'
import './stack.css'

const none: readonly ComposeProblem[] = []

/**
 * A compose file that is written, and below it what is wrong with it; each problem leads to its line.
 * @param onDeclare declares what a template uses
 */
export function ComposeField({
  label,
  id,
  value,
  onChange,
  problems = none,
  original,
  onDeclare,
}: Controlled<
  string,
  { label: string; problems?: readonly ComposeProblem[] | undefined; original?: string | undefined; onDeclare?: (variable: string) => void }
>) {
  const { t } = useTranslation('application')
  const editor = useRef<CodeEditorHandle>(null)
  const listed = useId()
  return (
    <>
      <CodeEditor
        ref={editor}
        label={label}
        value={value ?? ''}
        onChange={onChange ?? ignore}
        problems={problems}
        original={original}
        {...(id !== undefined && { id })}
      />
      <div role="status" aria-labelledby={listed} className="as-problems">
        <span id={listed} className={problems.length > 0 ? '' : 'zs-hidden'}>
          {t('compose.problems', { count: problems.length })}
        </span>
        {problems.length > 0 && (
          <ul className="zs-list">
            {problems.map(({ line, column, message, severity, undeclared }) => (
              <li key={`${line}:${column}:${message}`}>
                <button type="button" className="zs-linkbutton" onClick={() => editor.current?.goTo(line, column)}>
                  {t('compose.line', { line })}
                </button>{' '}
                <span className={severity === 'error' ? 'zs-bad' : 'zs-soft'}>{message}</span>
                {undeclared !== undefined && onDeclare !== undefined && (
                  <>
                    {' '}
                    <button type="button" className="zs-linkbutton" onClick={() => onDeclare(undeclared)}>
                      {t('variable.declare', { name: undeclared })}
                    </button>
                  </>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </>
  )
}

// A form's field has one; without a form it would be read only.
const ignore = (): void => undefined
