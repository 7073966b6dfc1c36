import { readPolicy, type PolicyProblem, type PolicyVocabulary } from '@zhisuan/contract/policy/problems'
import { policyTexts } from '@zhisuan/contract/policy/texts'
import type { RuleObject } from 'antd/es/form'
import { translate } from '../../../i18n.ts'
import { refusing } from '../../../kit/rules.ts'

/** All that is wrong with a text as a policy; null where it is no JSON at all. */
export function problemsOf(text: string, known: PolicyVocabulary): readonly PolicyProblem[] | null {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return null
  }
  const answer = readPolicy(document, known)
  return 'problems' in answer ? answer.problems : []
}

/** Without what is only not filled in yet: a new statement has no actions, and nobody did anything wrong. */
export const writtenWrong = (problems: readonly PolicyProblem[]): readonly PolicyProblem[] => problems.filter(({ message }) => message !== policyTexts.empty)

const judged = (known: PolicyVocabulary, of: (problems: readonly PolicyProblem[]) => readonly PolicyProblem[]): RuleObject =>
  refusing((text: string) => {
    const problems = problemsOf(text, known)
    if (problems === null) return translate('iam:editor.syntax')
    const count = of(problems).length
    return count > 0 && translate('iam:policy.wrong', { count })
  })

/** The same judge as the server's, of a field that stops at the first: what is left out is told once the form is sent. */
export const documentRules = (known: PolicyVocabulary): RuleObject[] => [
  { ...judged(known, (problems) => problems), validateTrigger: 'onSubmit' },
  judged(known, writtenWrong),
]
