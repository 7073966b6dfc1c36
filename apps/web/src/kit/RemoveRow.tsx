import DeleteOutlined from '@ant-design/icons/es/icons/DeleteOutlined'
import Button from 'antd/es/button'
import { useTranslation } from '../i18n.ts'

/** Takes a row out of a list of a form. */
export function RemoveRow({ index, onRemove }: { readonly index: number; readonly onRemove: () => void }) {
  const { t } = useTranslation('kit')
  return <Button type="text" danger icon={<DeleteOutlined />} aria-label={t('form.removeRow', { number: index + 1 })} onClick={onRemove} />
}
