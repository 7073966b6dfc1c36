import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { templateNames } from '@zhisuan/contract/nextstack/security-group'
import { useTranslation } from '../i18n.ts'

/** What a new security group lets in at first, of either family. */
export function TemplateField({ extra }: { readonly extra?: string }) {
  const { t } = useTranslation('kit')
  return (
    <Form.Item name="template" label={t('template.label')} extra={extra}>
      <Radio.Group
        className="zs-options"
        options={templateNames.map((value) => ({
          value,
          label: (
            <>
              {t(`template.name.${value}`)}
              <div className="zs-name-note">{t(`template.note.${value}`)}</div>
            </>
          ),
        }))}
      />
    </Form.Item>
  )
}
