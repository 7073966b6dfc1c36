import { errors } from '@zhisuan/contract/errors'
import type { EngineRequest } from '@zhisuan/contract/problem'
import { useTranslation } from '../i18n.ts'
import type { ApiError } from '../api/client.ts'
import { errorText } from '../api/toasts.ts'
import { copyText } from './copy.ts'
import { RefusedHelp } from './Refused.tsx'
import './panel.css'

/** Says what failed, by which request, and offers to try again. Plain elements: it is part of the first load. */
export function ErrorPanel({ error, title, onRetry }: { readonly error: ApiError; readonly title?: string; readonly onRetry?: () => void }) {
  const { t } = useTranslation('kit')
  const { requestId, engine, detail, refused } = error
  const forbidden = error.code === errors.noPermission.code
  return (
    <div className="zs-panel" role="alert">
      <p className="zs-panel-title">{forbidden ? t('error.forbidden') : (title ?? t('error.title'))}</p>
      <p>
        {errorText(error)} {refused !== null && <RefusedHelp refused={refused} />}
      </p>
      {detail !== null && <p className="zs-panel-note">{detail}</p>}
      {engine !== null && <FailedEngine engine={engine} />}
      {requestId !== null && (
        <p className="zs-panel-note">
          {t('error.requestId')} <code>{requestId}</code>{' '}
          <button type="button" className="zs-linkbutton" onClick={() => void copyText(requestId)}>
            {t('copy.action')}
          </button>
        </p>
      )}
      {/* Another try is refused as well. */}
      {onRetry !== undefined && !forbidden && (
        <button type="button" className="zs-button zs-button-plain" onClick={onRetry}>
          {t('error.retry')}
        </button>
      )}
    </div>
  )
}

/** Which service of which cloud it was, and by which request its operators find it. */
export function FailedEngine({ engine }: { readonly engine: EngineRequest }) {
  const { t } = useTranslation('kit')
  return (
    <p className="zs-panel-note">
      {t('error.engine', { cloud: engine.cloud, service: t(`error.service.${engine.service}`) })} <code>{engine.request_id}</code>
    </p>
  )
}
