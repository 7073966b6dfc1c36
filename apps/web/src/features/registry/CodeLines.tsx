import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import { useTranslation } from '../../i18n.ts'
import { copyText } from '../../kit/copy.ts'
import './registry.css'

/** What is pasted somewhere as a whole. */
export function CodeLines({ text }: { readonly text: string }) {
  const { t } = useTranslation('mirror')
  return (
    <div className="rg-lines">
      {/* Focusable, so that what is wider than the dialog can be scrolled by keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <Button size="small" type="text" icon={<CopyOutlined />} aria-label={t('copy')} title={t('copy')} onClick={() => void copyText(text)} />
    </div>
  )
}
