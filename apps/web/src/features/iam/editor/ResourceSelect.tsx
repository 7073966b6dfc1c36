import Select from 'antd/es/select'
import { compilePattern } from '@zhisuan/contract/policy/pattern'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../../i18n.ts'
import { nameWith, type Vocabulary } from '../../../kit/useVocabulary.ts'

/** Names of resources: those of the chosen actions are offered, others are typed. */
export function ResourceSelect({
  label,
  value,
  actions,
  vocabulary,
  onChange,
}: {
  readonly label: string
  readonly value: readonly string[]
  /** Patterns. */
  readonly actions: readonly string[]
  readonly vocabulary: Vocabulary
  readonly onChange: (names: readonly string[]) => void
}) {
  const { t } = useTranslation('iam')
  const patterns = actions.map((action) => compilePattern(action))
  const about = vocabulary.types.filter((type) => type.actions.some((action) => patterns.some((pattern) => pattern.matches(action, {}))))
  return (
    <Select<string[]>
      mode="tags"
      aria-label={label}
      className="zs-full"
      placeholder={t('editor.resourcesPlaceholder')}
      tokenSeparators={[' ', ',', '，']}
      value={[...value]}
      options={[
        { value: '*', label: t('editor.allResources') },
        ...about.flatMap(({ id, name, own }) => [
          { value: own, label: t('editor.ofOwn', { type: kindText(id) }), title: own },
          { value: nameWith(name, '*'), label: t('editor.ofAny', { type: kindText(id) }), title: nameWith(name, '*') },
        ]),
      ]}
      onChange={onChange}
    />
  )
}
