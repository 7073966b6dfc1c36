import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import type { PolicyProblem } from '@zhisuan/contract/policy/problems'
import { useTranslation } from '../../../i18n.ts'
import type { Vocabulary } from '../../../kit/useVocabulary.ts'
import { addStatement, copyStatement, readBuilder, removeStatement, replaceStatement } from './builderDocument.ts'
import { StatementFields } from './StatementFields.tsx'
import '../iam.css'

/** The document as fields: a card for each statement. */
export function Builder({
  text,
  onChange,
  problems,
  vocabulary,
}: {
  readonly text: string
  readonly onChange: (text: string) => void
  readonly problems: readonly PolicyProblem[]
  readonly vocabulary: Vocabulary
}) {
  const { t } = useTranslation('iam')
  const document = readBuilder(text)
  if (document === null) return <Alert type="info" showIcon title={t('editor.unreadable')} description={t('editor.unreadableNote')} />
  return (
    <div className="ia-builder">
      {document.statements.length === 0 && <p className="zs-soft">{t('editor.noStatements')}</p>}
      {document.statements.map((statement, index) => (
        // Statements have no identity but their place.
        <StatementFields
          key={index}
          number={index + 1}
          statement={statement}
          problems={problems.filter(({ path }) => path[0] === 'Statement' && path[1] === index)}
          vocabulary={vocabulary}
          onChange={(next) => onChange(replaceStatement(document, index, next))}
          onCopy={() => onChange(copyStatement(document, index))}
          onRemove={() => onChange(removeStatement(document, index))}
        />
      ))}
      <Button icon={<PlusOutlined aria-hidden />} onClick={() => onChange(addStatement(document))}>
        {t('editor.addStatement')}
      </Button>
    </div>
  )
}
