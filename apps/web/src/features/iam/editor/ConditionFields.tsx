import DeleteOutlined from '@ant-design/icons/es/icons/DeleteOutlined'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Select from 'antd/es/select'
import { operatorParts, type ConditionOperator } from '@zhisuan/contract/policy/document'
import { contextKeys, keyType, tagPrefixes } from '@zhisuan/contract/policy/keys'
import type { PolicyProblem } from '@zhisuan/contract/policy/problems'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import type { Vocabulary } from '../../../kit/useVocabulary.ts'
import {
  conditionRows,
  listValue,
  newCondition,
  operatorsFor,
  textsOf,
  withComparison,
  withConditions,
  withIfExists,
  type ConditionRow,
  type Json,
} from './builderDocument.ts'
import { conditionKeyText, operatorText, plainOperatorText } from './conditionText.ts'
import { Problems } from './Problems.tsx'
import '../iam.css'

/** When a statement applies: a row for each key of each operator. */
export function ConditionFields({
  statement,
  problems,
  vocabulary,
  onChange,
}: {
  readonly statement: Json
  readonly problems: readonly PolicyProblem[]
  readonly vocabulary: Vocabulary
  readonly onChange: (statement: Json) => void
}) {
  const { t } = useTranslation('iam')
  const rows = conditionRows(statement)
  const set = (index: number, row: ConditionRow): void =>
    onChange(
      withConditions(
        statement,
        rows.map((one, at) => (at === index ? row : one)),
      ),
    )
  return (
    <div className="ia-part">
      <div className="ia-part-head">
        <span>{t('editor.conditions')}</span>
        {rows.length > 0 && <span className="zs-soft">{t('editor.conditionsNote')}</span>}
      </div>
      {rows.map((row, index) => (
        <Condition
          key={`${row.operator} ${row.key}`}
          row={row}
          vocabulary={vocabulary}
          problems={[
            ...new Set(
              problems
                .filter(({ path }) => path[2] === 'Condition' && path[3] === row.operator && (path[4] === row.key || path.length === 4))
                .map(({ message }) => message),
            ),
          ]}
          onChange={(next) => set(index, next)}
          onRemove={() => onChange(withConditions(statement, rows.toSpliced(index, 1)))}
        />
      ))}
      <AddCondition vocabulary={vocabulary} onAdd={(key) => onChange(withConditions(statement, [...rows, newCondition(rows, key)]))} />
    </div>
  )
}

function Condition({
  row,
  vocabulary,
  problems,
  onChange,
  onRemove,
}: {
  readonly row: ConditionRow
  readonly vocabulary: Vocabulary
  readonly problems: readonly string[]
  readonly onChange: (row: ConditionRow) => void
  readonly onRemove: () => void
}) {
  const { t } = useTranslation('iam')
  const type = vocabulary.known.keys?.[row.key] ?? keyType(row.key)
  const parts = operatorParts(row.operator)
  const name = conditionKeyText(t, row.key, vocabulary.keys)
  const fitting = operatorsFor(type)
  // What is written stays chosen, also where it does not fit.
  const operators = parts === undefined || fitting.includes(parts.operator) ? fitting : [...fitting, parts.operator]
  const choices = parts?.operator === 'Null' || parts?.operator === 'Bool'
  const texts = textsOf(row.value)
  return (
    <div role="group" aria-label={name} className="ia-condition">
      <div className="ia-condition-key">
        {name} <span className="zs-code zs-soft">{row.key}</span>
      </div>
      <Button type="text" size="small" danger icon={<DeleteOutlined />} aria-label={t('editor.removeCondition', { key: name })} onClick={onRemove} />
      <Select<ConditionOperator | string>
        size="small"
        aria-label={t('editor.operator')}
        popupMatchSelectWidth={false}
        value={parts?.operator ?? row.operator}
        {...(parts?.set != null && { labelRender: () => operatorText(t, row.operator) })}
        options={operators.map((operator) => ({ value: operator, label: plainOperatorText(t, operator), title: operator }))}
        // Only operators are offered.
        onChange={(operator) => onChange({ ...row, operator: withComparison(row.operator, operator as ConditionOperator) })}
      />
      <Select<string[]>
        size="small"
        mode={choices ? 'multiple' : 'tags'}
        aria-label={t('editor.values')}
        placeholder={t('editor.valuesPlaceholder')}
        tokenSeparators={[' ', ',', '，']}
        value={[...texts]}
        {...(choices ? { options: ['true', 'false'].map((value) => ({ value, label: value })), maxCount: 1 } : { open: false, suffixIcon: null })}
        onChange={(next) => onChange({ ...row, value: listValue(row.value, next) })}
      />
      {parts?.operator !== 'Null' && (
        <Checkbox
          checked={parts?.ifExists ?? false}
          disabled={parts === undefined}
          onChange={({ target }) => onChange({ ...row, operator: withIfExists(row.operator, target.checked) })}
        >
          {t('editor.ifExists')}
        </Checkbox>
      )}
      <Problems messages={problems} />
    </div>
  )
}

/** Chooses a key; that of a tag is typed. */
function AddCondition({ vocabulary, onAdd }: { readonly vocabulary: Vocabulary; readonly onAdd: (key: string) => void }) {
  const { t } = useTranslation('iam')
  const [search, setSearch] = useState('')
  const typed = search.trim()
  const tags = keyType(typed) !== undefined && !Object.hasOwn(contextKeys, typed) ? [typed] : []
  const option = (key: string) => ({ value: key, label: `${conditionKeyText(t, key, vocabulary.keys)}  ${key}` })
  return (
    <Select<string | null>
      size="small"
      aria-label={t('editor.addCondition')}
      placeholder={t('editor.addCondition')}
      className="ia-add"
      popupMatchSelectWidth={340}
      showSearch={{ searchValue: search, onSearch: setSearch, optionFilterProp: 'label' }}
      value={null}
      options={[
        ...Object.keys(contextKeys).map(option),
        ...vocabulary.keys.map(({ key }) => option(key)),
        ...tags.map(option),
        ...tagPrefixes
          .filter((prefix) => tags.length === 0 && prefix.startsWith(typed))
          .map((prefix) => ({ value: prefix, label: `${conditionKeyText(t, prefix)}  ${prefix}…`, disabled: true })),
      ]}
      onChange={(key) => {
        setSearch('')
        if (key !== null) onAdd(key)
      }}
    />
  )
}
