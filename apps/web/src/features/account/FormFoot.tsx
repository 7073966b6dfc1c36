import Button from 'antd/es/button'
import Space from 'antd/es/space'
import { useTranslation } from 'react-i18next'

/** Ends a form that opened in its place: by what it does, or back to what was there. */
export function FormFoot({
  text,
  danger = false,
  pending,
  onBack,
}: {
  readonly text: string
  readonly danger?: boolean
  readonly pending: boolean
  readonly onBack: () => void
}) {
  const { t } = useTranslation('account')
  return (
    <Space wrap>
      <Button type="primary" danger={danger} htmlType="submit" loading={pending}>
        {text}
      </Button>
      <Button onClick={onBack}>{t('back')}</Button>
    </Space>
  )
}
