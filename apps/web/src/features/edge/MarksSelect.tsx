import Select from 'antd/es/select'
import { labels, taints, type Label, type Taint } from '@zhisuan/contract/ecrm/edge'
import { lookups } from '@zhisuan/contract/ecrm/region'
import { useDeferredValue, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { labelText, readLabel, readTaint, taintEffects, taintText } from './edgeRules.ts'
import { refusing, wrongWith } from '../../kit/rules.ts'

const judged = (schema: typeof labels | typeof taints) => refusing((value: readonly Label[] | readonly Taint[]) => wrongWith(schema, value))
export const labelsRule = judged(labels)
export const taintsRule = judged(taints)

interface Control<Mark> {
  readonly id?: string
  readonly value?: readonly Mark[]
  readonly onChange?: (marks: Mark[]) => void
}

/** Labels as texts that are typed, with those in use to choose from; a control of a form. */
export function LabelsSelect({ id, value = [], onChange }: Control<Label>) {
  const { t } = useTranslation('edge')
  const [typed, setTyped] = useState('')
  const known = useKnown(lookups.labelInputs, typed)
  return (
    <Tags
      id={id}
      placeholder={t('field.labelPlaceholder')}
      texts={value.map(labelText)}
      options={known}
      onSearch={setTyped}
      onTexts={(texts) => onChange?.(texts.map(readLabel))}
    />
  )
}

/** The same of taints; what is typed without an effect is offered with each. */
export function TaintsSelect({ id, value = [], onChange }: Control<Taint>) {
  const { t } = useTranslation('edge')
  const [typed, setTyped] = useState('')
  const known = useKnown(lookups.taintInputs, typed)
  const completed = typed.trim() === '' || typed.includes(':') ? [] : taintEffects.map((effect) => `${typed.trim()}:${effect}`)
  return (
    <Tags
      id={id}
      placeholder={t('field.taintPlaceholder')}
      texts={value.map(taintText)}
      options={[...new Set([...known, ...completed])]}
      onSearch={setTyped}
      onTexts={(texts) => onChange?.(texts.map(readTaint))}
    />
  )
}

function useKnown(call: typeof lookups.labelInputs | typeof lookups.taintInputs, typed: string): readonly string[] {
  const x = useDeferredValue(typed.trim())
  const { data } = useCall(call, { params: { x } }, { enabled: x !== '', silent: true })
  return x === '' ? [] : (data?.items ?? [])
}

function Tags({
  id,
  placeholder,
  texts,
  options,
  onSearch,
  onTexts,
}: {
  readonly id: string | undefined
  readonly placeholder: string
  readonly texts: readonly string[]
  readonly options: readonly string[]
  readonly onSearch: (text: string) => void
  readonly onTexts: (texts: string[]) => void
}) {
  return (
    <Select<string[]>
      {...(id !== undefined && { id })}
      mode="tags"
      tokenSeparators={[',', '，', ' ']}
      placeholder={placeholder}
      value={[...texts]}
      options={options.map((text) => ({ value: text, label: text }))}
      showSearch={{ onSearch }}
      onChange={(next) => {
        onSearch('')
        onTexts(next)
      }}
    />
  )
}
