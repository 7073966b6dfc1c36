import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import { fitsVariable, variable, variablesMax } from '@zhisuan/contract/aos/stack'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useTranslation } from '../../i18n.ts'
import { SelectField } from '../../kit/SelectField.tsx'
import { CheckField, Field, TextField } from '../../kit/fields.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { onceIn } from '../../kit/isTwice.ts'
import { refusing, wrongWith } from '../../kit/rules.ts'
import { blankVariable, type VariableValues } from './templateForm.ts'
import './stack.css'

const list = 'variables'
const types = variable.shape.type.options

/**
 * What a template asks for when it is deployed, a row for each variable.
 * @param names those that the file has
 */
export function VariableEditor({ names }: { readonly names: readonly string[] }) {
  const { t } = useTranslation('application')
  const form = Form.useFormInstance()
  // antd does not know the values of a form around it.
  const typed = (Form.useWatch(list, form) as (VariableValues | undefined)[] | undefined) ?? []
  const described = new Set(typed.map((row) => row?.name))
  const missing = names.filter((name) => !described.has(name))
  const addMissing = (): void => form.setFieldValue(list, [...typed, ...missing.map((name) => blankVariable(name))].slice(0, variablesMax))
  return (
    <Form.List name={list}>
      {(rows, { add, remove }, { errors }) => (
        <div className="zs-rows">
          {rows.length > 0 && (
            // What is said of each field by its own label, once more for who sees all of them.
            <div className="as-variable-head" aria-hidden>
              {(['name', 'label', 'type', 'default'] as const).map((key) => (
                <span key={key}>{t(`variable.${key}`)}</span>
              ))}
            </div>
          )}
          {rows.map(({ key, name }) => (
            <fieldset key={key} className="as-variable">
              <legend className="zs-hidden">{t('variable.row', { number: name + 1 })}</legend>
              <Row
                index={name}
                row={typed[name]}
                unused={typed[name]?.name !== undefined && typed[name].name !== '' && names.length > 0 && !names.includes(typed[name].name)}
              />
              <RemoveRow index={name} onRemove={() => remove(name)} />
            </fieldset>
          ))}
          <Form.ErrorList errors={errors} />
          <div className="zs-buttons">
            <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= variablesMax} onClick={() => add(blankVariable())}>
              {t('variable.add')}
            </Button>
            {missing.length > 0 && (
              <Button type="dashed" onClick={addMissing}>
                {t('variable.addMissing', { count: missing.length, names: missing.slice(0, 4).join('、') })}
              </Button>
            )}
          </div>
        </div>
      )}
    </Form.List>
  )
}

const onceRule = (index: number) => onceIn<VariableValues>(list, index, ({ name }) => name, fieldTexts.variableTwice)

function Row({ index, row, unused }: { readonly index: number; readonly row: VariableValues | undefined; readonly unused: boolean }) {
  const { t } = useTranslation('application')
  const type = row?.type ?? 'text'
  const fits = refusing<string | undefined>(
    (value = '') =>
      wrongWith(variable.shape.default, value) ?? (value !== '' && !fitsVariable({ type, choices: row?.choices ?? [] }, value) && t('variable.noDefault')),
  )
  const label = (text: string): string => `${text} ${index + 1}`
  return (
    <div className="as-variable-fields">
      <Field
        name={[index, 'name']}
        schema={variable.shape.name}
        required={false}
        rules={[onceRule(index)]}
        dependencies={[list]}
        {...(unused && { extra: t('variable.unused') })}
      >
        <Input className="zs-code" placeholder={t('variable.name')} aria-label={label(t('variable.name'))} />
      </Field>
      <TextField name={[index, 'label']} schema={variable.shape.label} placeholder={t('variable.label')} aria-label={label(t('variable.label'))} />
      <SelectField name={[index, 'type']} aria-label={label(t('variable.type'))} values={types} labelOf={(value) => t(`variable.types.${value}`)} />
      <Form.Item
        name={[index, 'default']}
        rules={[fits]}
        dependencies={[
          [list, index, 'type'],
          [list, index, 'choices'],
        ]}
      >
        {type === 'boolean' ? (
          <Select
            allowClear
            placeholder={t('variable.default')}
            aria-label={label(t('variable.default'))}
            options={[
              { value: 'true', label: t('variable.yes') },
              { value: 'false', label: t('variable.no') },
            ]}
          />
        ) : type === 'password' ? (
          <Input.Password autoComplete="new-password" placeholder={t('variable.default')} aria-label={label(t('variable.default'))} />
        ) : (
          <Input placeholder={t('variable.default')} aria-label={label(t('variable.default'))} />
        )}
      </Form.Item>
      <CheckField name={[index, 'required']} text={t('variable.required')} />
      {type === 'choice' && (
        <Form.Item
          name={[index, 'choices']}
          className="as-variable-choices"
          rules={[{ required: true, type: 'array', min: 1, message: t('variable.noChoices') }]}
        >
          <Select mode="tags" maxCount={50} tokenSeparators={[',', '，']} placeholder={t('variable.choices')} aria-label={label(t('variable.choices'))} />
        </Form.Item>
      )}
    </div>
  )
}
