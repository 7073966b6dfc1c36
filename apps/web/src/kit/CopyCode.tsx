import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import { useTranslation } from '../i18n.ts'
import { copyText } from './copy.ts'

/** What programs read, to be copied; `shown` is its beginning where it is long. Its button stays beside it, however long it is. */
export function CopyCode({ text, shown = text }: { readonly text: string; readonly shown?: string }) {
  const { t } = useTranslation('kit')
  return (
    <span className="zs-copy">
      <span className="zs-code" title={text}>
        {shown}
      </span>
      <Button type="text" size="small" icon={<CopyOutlined />} aria-label={t('copy.this', { text })} onClick={() => void copyText(text)} />
    </span>
  )
}
