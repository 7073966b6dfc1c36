import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import { useTranslation } from '../i18n.ts'
import { copyText } from './copy.ts'

/** What programs read, to be copied. Its button stays beside it, however long it is. */
export function CopyCode({ text }: { readonly text: string }) {
  const { t } = useTranslation('kit')
  return (
    <span className="zs-copy">
      <span className="zs-code" title={text}>
        {text}
      </span>
      <Button type="text" size="small" icon={<CopyOutlined />} aria-label={t('copy.this', { text })} onClick={() => void copyText(text)} />
    </span>
  )
}
