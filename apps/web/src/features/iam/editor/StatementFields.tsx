import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import DeleteOutlined from '@ant-design/icons/es/icons/DeleteOutlined'
import Button from 'antd/es/button'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import type { PolicyProblem } from '@zhisuan/contract/policy/problems'
import { useId, type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import type { Vocabulary } from '../../../kit/useVocabulary.ts'
import { ActionSelect } from './ActionSelect.tsx'
import { listValue, modeOf, otherParts, renamePart, setPart, textsOf, type Json, type ListPart } from './builderDocument.ts'
import { ConditionFields } from './ConditionFields.tsx'
import { Problems } from './Problems.tsx'
import { ResourceSelect } from './ResourceSelect.tsx'
import '../iam.css'

/** One statement: its effect, what it is about, and when. */
export function StatementFields({
  number,
  statement,
  problems,
  vocabulary,
  onChange,
  onCopy,
  onRemove,
}: {
  readonly number: number
  /** Null for what is no object. */
  readonly statement: Json | null
  readonly problems: readonly PolicyProblem[]
  readonly vocabulary: Vocabulary
  readonly onChange: (statement: Json) => void
  readonly onCopy: () => void
  readonly onRemove: () => void
}) {
  const { t } = useTranslation('iam')
  const remove = <Button type="text" size="small" danger icon={<DeleteOutlined />} aria-label={t('editor.removeStatement', { number })} onClick={onRemove} />
  const title = t('editor.statement', { number })
  if (statement === null) {
    return (
      <fieldset className="ia-statement">
        <legend className="zs-hidden">{title}</legend>
        <div className="ia-statement-head">
          <strong aria-hidden>{title}</strong>
          {remove}
        </div>
        <p className="zs-soft">{t('editor.broken')}</p>
      </fieldset>
    )
  }
  const told = (...parts: readonly string[]): readonly string[] => [
    ...new Set(problems.filter(({ path }) => parts.includes(String(path[2]))).map(({ message }) => message)),
  ]
  const actionPart = modeOf(statement, ['Action', 'NotAction'])
  const resourcePart = modeOf(statement, ['Resource', 'NotResource'])
  const setTexts = (part: ListPart, texts: readonly string[]): void => onChange(setPart(statement, part, listValue(statement[part], texts)))
  const switchTo = (from: ListPart, to: ListPart): void => onChange(from in statement ? renamePart(statement, from, to) : setPart(statement, to, []))
  const actions = textsOf(statement[actionPart])
  const others = otherParts(statement)
  const { Effect: effect, Sid: sid } = statement
  return (
    <fieldset className="ia-statement">
      <legend className="zs-hidden">{title}</legend>
      <div className="ia-statement-head">
        <strong aria-hidden>{title}</strong>
        <Radio.Group
          size="small"
          optionType="button"
          buttonStyle="solid"
          aria-label={t('editor.effect')}
          value={effect}
          options={(['Allow', 'Deny'] as const).map((value) => ({ value, label: t(`editor.effects.${value}`) }))}
          onChange={({ target }) => onChange(setPart(statement, 'Effect', target.value))}
        />
        <span className="ia-push" />
        <Button type="text" size="small" icon={<CopyOutlined />} aria-label={t('editor.copyStatement', { number })} onClick={onCopy} />
        {remove}
      </div>
      <Problems messages={told('Effect')} />
      <Part
        label={t('editor.actions')}
        problems={told('Action', 'NotAction')}
        mode={
          <Mode
            label={t('editor.actionModeLabel')}
            value={actionPart}
            options={(['Action', 'NotAction'] as const).map((value) => ({ value, label: t(`editor.actionMode.${value}`) }))}
            onChange={(to) => switchTo(actionPart, to)}
          />
        }
      >
        <ActionSelect label={t('editor.actions')} value={actions} vocabulary={vocabulary} onChange={(texts) => setTexts(actionPart, texts)} />
      </Part>
      <Part
        label={t('editor.resources')}
        problems={told('Resource', 'NotResource')}
        mode={
          <Mode
            label={t('editor.resourceModeLabel')}
            value={resourcePart}
            options={(['Resource', 'NotResource'] as const).map((value) => ({ value, label: t(`editor.resourceMode.${value}`) }))}
            onChange={(to) => switchTo(resourcePart, to)}
          />
        }
      >
        <ResourceSelect
          label={t('editor.resources')}
          value={textsOf(statement[resourcePart])}
          actions={actions}
          vocabulary={vocabulary}
          onChange={(texts) => setTexts(resourcePart, texts)}
        />
      </Part>
      <ConditionFields statement={statement} problems={problems} vocabulary={vocabulary} onChange={onChange} />
      <Sid value={textsOf(sid)[0] ?? ''} problems={told('Sid')} onChange={(text) => onChange(setPart(statement, 'Sid', text === '' ? undefined : text))} />
      {others.length > 0 && <p className="zs-soft">{t('editor.more', { keys: others.join('、') })}</p>}
    </fieldset>
  )
}

function Sid({ value, problems, onChange }: { readonly value: string; readonly problems: readonly string[]; readonly onChange: (text: string) => void }) {
  const { t } = useTranslation('iam')
  const id = useId()
  return (
    <div className="ia-part">
      <label htmlFor={id}>{t('editor.sid')}</label>
      <Input id={id} size="small" value={value} placeholder={t('editor.sidNote')} onChange={({ target }) => onChange(target.value)} />
      <Problems messages={problems} />
    </div>
  )
}

function Part({
  label,
  mode,
  problems,
  children,
}: {
  readonly label: string
  readonly mode: ReactNode
  readonly problems: readonly string[]
  readonly children: ReactNode
}) {
  return (
    <div className="ia-part">
      <div className="ia-part-head">
        <span>{label}</span>
        {mode}
      </div>
      {children}
      <Problems messages={problems} />
    </div>
  )
}

function Mode<P extends ListPart>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly value: P
  readonly options: readonly { readonly value: P; readonly label: string }[]
  readonly onChange: (value: P) => void
}) {
  return (
    <Select<P> size="small" variant="borderless" popupMatchSelectWidth={false} aria-label={label} value={value} options={[...options]} onChange={onChange} />
  )
}
