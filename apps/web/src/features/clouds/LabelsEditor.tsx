import ArrowUpOutlined from '@ant-design/icons/es/icons/ArrowUpOutlined'
import DeleteOutlined from '@ant-design/icons/es/icons/DeleteOutlined'
import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Button from 'antd/es/button'
import ColorPicker from 'antd/es/color-picker'
import type { Rule } from 'antd/es/form'
import Input from 'antd/es/input'
import { translate, useTranslation } from '../../i18n.ts'
import { CloudLabels } from '../../kit/CloudLabels.tsx'
import { newLabel, readLabel, writeLabel, wrongWith, type EditedLabel } from './labels.ts'
import type { Controlled } from '../../kit/fields.tsx'
import './clouds.css'

const labelsMax = 20

/** All of them have to be labels before they are sent. */
export const labelsRule: Rule = {
  validator: async (_rule, value: readonly string[] | undefined) => {
    const wrong = (value ?? []).map(wrongWith).find((one) => one !== null)
    if (wrong !== undefined && wrong !== null) throw new Error(wrong.message || translate('clouds:label.broken'))
  },
}

/** The labels of a cloud as people see them, with the JSON that is stored underneath. */
export function LabelsEditor({ id, value = [], onChange }: Controlled<readonly string[]>) {
  const { t } = useTranslation('clouds')
  const set = (index: number, text: string): void => onChange?.(value.map((one, at) => (at === index ? text : one)))
  const remove = (index: number): void => onChange?.(value.filter((_, at) => at !== index))
  const up = (index: number): void => {
    const next = [...value]
    next.splice(index - 1, 0, ...next.splice(index, 1))
    onChange?.(next)
  }
  return (
    <div id={id} tabIndex={-1} className="cl-editor">
      {value.map((text, index) => (
        // Labels have no identity but their place.
        <fieldset key={index} className="cl-label">
          <legend className="zs-hidden">{`${t('form.labels')} ${index + 1}`}</legend>
          <LabelFields text={text} onChange={(next) => set(index, next)} />
          <div className="cl-label-side">
            <Button type="text" size="small" icon={<ArrowUpOutlined />} aria-label={t('label.up')} disabled={index === 0} onClick={() => up(index)} />
            <Button type="text" size="small" danger icon={<DeleteOutlined />} aria-label={t('label.remove')} onClick={() => remove(index)} />
          </div>
        </fieldset>
      ))}
      {value.length > 0 && (
        <div className="cl-preview">
          <span className="zs-soft">{t('label.preview')}</span> <CloudLabels labels={value} />
        </div>
      )}
      <Button icon={<PlusOutlined aria-hidden />} disabled={value.length >= labelsMax} onClick={() => onChange?.([...value, writeLabel(newLabel)])}>
        {t('label.add')}
      </Button>
      {value.length > 0 && (
        <details className="cl-json">
          <summary>{t('label.showJson')}</summary>
          <pre>{value.join('\n')}</pre>
        </details>
      )}
    </div>
  )
}

function LabelFields({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const { t } = useTranslation('clouds')
  const label = readLabel(text)
  if (label === null) {
    return (
      <div className="cl-label-fields">
        <Input aria-label={t('label.json')} status="error" value={text} onChange={(event) => onChange(event.target.value)} className="zs-code" />
        <span className="zs-bad">{t('label.broken')}</span>
      </div>
    )
  }
  const wrong = wrongWith(text)
  const change = (part: EditedLabel): void => onChange(writeLabel({ ...label, ...part }))
  const input = (key: 'imgUrl' | 'imgSize' | 'imgPosition', placeholder: string) => (
    <Input
      aria-label={t(`label.${key}`)}
      placeholder={placeholder}
      title={t(`label.${key}`)}
      value={label[key] ?? ''}
      {...(wrong?.field === key && { status: 'error' as const })}
      onChange={(event) => change({ [key]: event.target.value })}
    />
  )
  const colour = (key: 'textColor' | 'bgColor', fallback: string) => (
    <ColorPicker
      value={label[key] ?? fallback}
      allowClear
      size="small"
      onChange={(picked) => change({ [key]: picked.cleared === true ? '' : picked.toHexString() })}
    >
      <Button size="small" icon={<span className="cl-swatch" style={{ background: label[key] ?? fallback }} />}>
        {t(`label.${key}`)}
      </Button>
    </ColorPicker>
  )
  return (
    <div className="cl-label-fields">
      <div className="zs-buttons cl-label-line">
        <Input
          aria-label={t('label.text')}
          placeholder={t('label.text')}
          value={label.label ?? ''}
          {...(wrong?.field === 'label' && (label.label ?? '') !== '' && { status: 'error' as const })}
          onChange={(event) => change({ label: event.target.value })}
        />
        {colour('textColor', '#4a5670')}
        {colour('bgColor', '#eef1f7')}
        <span className="cl-label-sample">
          <CloudLabels labels={[text]} />
        </span>
      </div>
      <details open={label.imgUrl !== undefined || label.imgSize !== undefined || label.imgPosition !== undefined}>
        <summary>{t('label.more')}</summary>
        <div className="zs-buttons cl-label-line">
          {input('imgUrl', t('label.imgUrlNote'))}
          {input('imgSize', '16px')}
          {input('imgPosition', 'left center')}
        </div>
      </details>
    </div>
  )
}
