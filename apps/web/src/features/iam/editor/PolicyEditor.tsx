import Form from 'antd/es/form'
import type { PolicyProblem } from '@zhisuan/contract/policy/problems'
import { kindText } from '@zhisuan/contract/kindTexts'
import { lazy, Suspense, useMemo } from 'react'
import { useTranslation } from '../../../i18n.ts'
import '../../../kit/codeEditor.css'
import { actionText, serviceText } from '../../../kit/actionText.ts'
import type { Vocabulary } from '../../../kit/useVocabulary.ts'
import { Builder } from './Builder.tsx'
import type { Completions } from './completion.ts'
import { conditionKeyText, operatorText } from './conditionText.ts'
import { problemsOf, writtenWrong } from './documentProblems.ts'
import type { Controlled } from '../../../kit/fields.tsx'
import '../iam.css'

// CodeMirror is a chunk of its own.
const JsonView = lazy(() => import('./policyJsonView.tsx'))

/** One document in two views beside each other; the text is what both read and write. A control of a form. */
export function PolicyEditor({ id, value = '', onChange = ignore, vocabulary }: Controlled<string, { vocabulary: Vocabulary }>) {
  const { t } = useTranslation('iam')
  const { status } = Form.Item.useStatus()
  const all = useMemo(() => problemsOf(value, vocabulary.known), [value, vocabulary])
  // What is left out is told once the form refused it.
  const problems = useMemo(() => (all === null || status === 'error' ? all : writtenWrong(all)), [all, status])
  const completions = useMemo<Completions>(
    () => ({
      actions: vocabulary.patterns.map(({ pattern, of }) => ({
        value: pattern,
        text:
          of === 'everything'
            ? t('editor.everything')
            : of === 'service'
              ? serviceText(pattern.slice(0, -2), vocabulary.services)
              : of === 'type'
                ? kindText(pattern)
                : actionText(pattern),
      })),
      resources: [
        { value: '*', text: t('editor.allResources') },
        ...vocabulary.types.map(({ id: type, own }) => ({ value: own, text: t('editor.ofOwn', { type: kindText(type) }) })),
      ],
      operators: (operator) => operatorText(t, operator),
      keys: (key) => conditionKeyText(t, key, vocabulary.keys),
      customKeys: vocabulary.keys.map(({ key }) => key),
    }),
    [t, vocabulary],
  )
  return (
    <div className="ia-editor">
      <section aria-label={t('editor.builder')}>
        <h2>{t('editor.builder')}</h2>
        <Builder text={value} onChange={onChange} problems={problems ?? noProblems} vocabulary={vocabulary} />
      </section>
      <section aria-label={t('editor.json')}>
        <h2>{t('editor.json')}</h2>
        <Suspense fallback={<div className="zs-editor zs-editor-late zs-late" aria-busy="true" />}>
          <JsonView
            value={value}
            onChange={onChange}
            problems={problems}
            unfinished={all !== null && all.length > 0}
            completions={completions}
            {...(id !== undefined && { id })}
          />
        </Suspense>
      </section>
    </div>
  )
}

const noProblems: readonly PolicyProblem[] = []
// A form's field has one.
const ignore = (): void => undefined
