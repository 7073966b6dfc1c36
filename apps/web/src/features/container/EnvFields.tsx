import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { containerSpec } from '@zhisuan/contract/cis/container'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Field, TextAreaField } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/FormDialog.tsx'
import { RemoveRow } from '../../kit/RemoveRow.tsx'
import { envOf, type SpecValues } from './specForm.ts'
import { onceIn } from '../../kit/isTwice.ts'
import './container.css'

const { shape } = containerSpec.shape.env.unwrap().element
const list = ['spec', 'env']
const variablesMax = 200

const onceRule = (index: number) => onceIn<SpecValues['env'][number]>(list, index, ({ name }) => name, fieldTexts.envTwice)

/** Variables of the container's environment, one by one or pasted as the lines of a file. */
export function EnvFields() {
  const { t } = useTranslation('container')
  const form = Form.useFormInstance()
  const [pasting, setPasting] = useState(false)
  const paste = (text: string): void => {
    const pasted = envOf(text)
    const former = (form.getFieldValue(list) as SpecValues['env'] | undefined) ?? []
    const kept = former.filter(({ name }) => !pasted.some((one) => one.name === name))
    form.setFieldValue(list, [...kept, ...pasted].slice(0, variablesMax))
    setPasting(false)
  }
  return (
    <>
      <Form.List name={list}>
        {(rows, { add, remove }, { errors }) => (
          <div className="zs-rows">
            {rows.map(({ key, name }) => (
              <div key={key} className="zs-row cn-row-env">
                <Field name={[name, 'name']} schema={shape.name} required={false} rules={[onceRule(name)]} dependencies={[list]}>
                  <Input className="zs-code" placeholder={t('field.envName')} aria-label={`${t('field.envName')} ${name + 1}`} />
                </Field>
                <TextAreaField
                  name={[name, 'value']}
                  schema={shape.value}
                  required={false}
                  autoSize={{ minRows: 1, maxRows: 4 }}
                  code
                  placeholder={t('field.envValue')}
                  aria-label={`${t('field.envValue')} ${name + 1}`}
                />
                <RemoveRow index={name} onRemove={() => remove(name)} />
              </div>
            ))}
            <Form.ErrorList errors={errors} />
            <div className="zs-buttons">
              <Button icon={<PlusOutlined aria-hidden />} disabled={rows.length >= variablesMax} onClick={() => add({ name: '', value: '' })}>
                {t('field.envAdd')}
              </Button>
              <Button type="text" onClick={() => setPasting(true)}>
                {t('field.envPaste')}
              </Button>
            </div>
          </div>
        )}
      </Form.List>
      {pasting && <PasteDialog onPaste={paste} onClose={() => setPasting(false)} />}
    </>
  )
}

function PasteDialog({ onPaste, onClose }: { readonly onPaste: (text: string) => void; readonly onClose: () => void }) {
  const { t } = useTranslation('container')
  const [form] = Form.useForm<{ text: string }>()
  const count = envOf(Form.useWatch('text', form) ?? '').length
  return (
    <FormDialog
      form={form}
      title={t('field.envPasteTitle')}
      okText={t('field.envPasteOk', { count })}
      okDisabled={count === 0}
      initialValues={{ text: '' }}
      onSubmit={async ({ text }) => onPaste(text)}
      onClose={onClose}
    >
      <p>{t('field.envPasteNote')}</p>
      <TextAreaField noStyle name="text" autoFocus rows={8} code aria-label={t('field.env')} />
    </FormDialog>
  )
}
