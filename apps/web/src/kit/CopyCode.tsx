import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import { useTranslation } from '../i18n.ts'
import { copyText } from './copy.ts'

/** What programs read, to be copied. Where there is no room for it, it is cut; what is copied never is. */
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
