import { useTranslation } from 'react-i18next'
import type { ApiError } from '../api/client.ts'
import { errorText } from '../api/toasts.ts'
import { copyText } from './copy.ts'

/** Says what failed, by which request, and offers to try again. Plain elements: it is part of the first load. */
export function ErrorPanel({ error, title, onRetry }: { readonly error: ApiError; readonly title?: string; readonly onRetry?: () => void }) {
  const { t } = useTranslation('kit')
  const { requestId } = error
  return (
    <div className="zs-panel" role="alert">
      <p className="zs-panel-title">{title ?? t('error.title')}</p>
      <p>{errorText(error)}</p>
      {requestId !== null && (
        <p className="zs-panel-note">
          {t('error.requestId')} <code>{requestId}</code>{' '}
          <button type="button" className="zs-linkbutton" onClick={() => void copyText(requestId)}>
            {t('copy.action')}
          </button>
        </p>
      )}
      {onRetry !== undefined && (
        <button type="button" className="zs-button zs-button-plain" onClick={onRetry}>
          {t('error.retry')}
        </button>
      )}
    </div>
  )
}
