import Button from 'antd/es/button'
import Typography from 'antd/es/typography'
import { useTranslation } from 'react-i18next'
import type { ApiError } from '../api/client.ts'
import { errorText } from '../api/toasts.ts'

/** Says what failed, by which request, and offers to try again. */
export function ErrorPanel({ error, title, onRetry }: { readonly error: ApiError; readonly title?: string; readonly onRetry?: () => void }) {
  const { t } = useTranslation('kit')
  return (
    <div className="zs-panel" role="alert">
      <p className="zs-panel-title">{title ?? t('error.title')}</p>
      <p>{errorText(error)}</p>
      {error.requestId !== null && (
        <p className="zs-panel-note">
          {t('error.requestId')} <Typography.Text copyable={{ tooltips: false }} code>{error.requestId}</Typography.Text>
        </p>
      )}
      {onRetry !== undefined && <Button onClick={onRetry}>{t('error.retry')}</Button>}
    </div>
  )
}
