import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import { useTranslation } from '../../i18n.ts'
import { copyText } from '../../kit/copy.ts'
import './iam.css'

/** A name as policies write it, to be copied. */
export function CopyName({ name }: { readonly name: string }) {
  const { t } = useTranslation('iam')
  return (
    <span className="ia-copy">
      <span className="zs-code">{name}</span>
      <Button type="text" size="small" icon={<CopyOutlined />} aria-label={t('resource.copyName', { name })} onClick={() => void copyText(name)} />
    </span>
  )
}
