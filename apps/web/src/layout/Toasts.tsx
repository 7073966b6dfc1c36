import { useSyncExternalStore } from 'react'
import { useTranslation } from '../i18n.ts'
import { toastStore } from '../api/notify.ts'
import { RefusedHelp } from '../kit/Refused.tsx'
import './toasts.css'

/**
 * Passing messages. Ours and not antd's, because every page has them, the login page too, which
 * must not load antd for the toast that it may never show.
 */
export function Toasts() {
  const { t } = useTranslation('kit')
  const toasts = useSyncExternalStore(toastStore.subscribe, toastStore.read)
  return (
    <div className="frame-toasts">
      {(['assertive', 'polite'] as const).map((live) => (
        // Both regions are always there: readers only announce what changes in a region that they know.
        <div key={live} aria-live={live} role={live === 'assertive' ? 'alert' : 'status'}>
          {toasts
            .filter((toast) => (toast.tone === 'error') === (live === 'assertive'))
            .map((toast) => (
              <div key={toast.id} className={`frame-toast frame-toast-${toast.tone}`}>
                <span className="frame-toast-mark" aria-hidden="true" />
                <span className="frame-toast-text">
                  {toast.text} {toast.refused !== undefined && <RefusedHelp refused={toast.refused} />}
                </span>
                <button type="button" aria-label={t('toast.close')} onClick={() => toastStore.dismiss(toast.id)}>
                  ×
                </button>
              </div>
            ))}
        </div>
      ))}
    </div>
  )
}
