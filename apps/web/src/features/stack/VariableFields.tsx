import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import { fitsVariable, variable as schema, type Variable } from '@zhisuan/contract/aos/stack'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useTranslation } from '../../i18n.ts'
import { refusing, wrongWith } from '../../kit/rules.ts'
import { ImageInput } from '../container/ImageInput.tsx'
import './stack.css'

/** A field for each variable, by its type; the form holds them under `values`. */
export function VariableFields({ variables }: { readonly variables: readonly Variable[] }) {
  const { t } = useTranslation('application')
  const ruleOf = (variable: Variable) =>
    refusing<string | undefined>((value = '') => {
      if (value === '') return variable.required && fieldTexts.contentRequired
      const noOther = variable.type === 'port' ? 'variable.noPort' : variable.type === 'number' ? 'variable.noNumber' : 'variable.noChoice'
      return wrongWith(schema.shape.default, value) ?? (!fitsVariable(variable, value) && t(noOther))
    })
  return variables.map((variable) => (
    <Form.Item
      key={variable.name}
      name={['values', variable.name]}
      label={variable.label === '' ? <span className="zs-code">{variable.name}</span> : variable.label}
      {...(variable.label !== '' && { extra: <span className="zs-code">{variable.name}</span> })}
      required={variable.required}
      rules={[ruleOf(variable)]}
    >
      {controlOf(variable, { yes: t('variable.yes'), no: t('variable.no') })}
    </Form.Item>
  ))
}

/** What templates call their images, in whole words. */
const namesImage = (name: string): boolean => /(^|_)IMAGE(_|$)/i.test(name)

function controlOf({ name, type, choices, required }: Variable, words: { readonly yes: string; readonly no: string }) {
  switch (type) {
    case 'password':
      return <Input.Password autoComplete="new-password" />
    case 'number':
    case 'port':
      return <Input inputMode="numeric" className="as-short" />
    case 'boolean':
      return (
        <Select
          allowClear={!required}
          className="as-short"
          options={[
            { value: 'true', label: words.yes },
            { value: 'false', label: words.no },
          ]}
        />
      )
    case 'choice':
      return <Select allowClear={!required} showSearch={{ optionFilterProp: 'label' }} options={choices.map((value) => ({ value, label: value }))} />
    case 'text':
      return namesImage(name) ? <ImageInput /> : <Input.TextArea autoSize={{ minRows: 1, maxRows: 6 }} spellCheck={false} />
  }
}
