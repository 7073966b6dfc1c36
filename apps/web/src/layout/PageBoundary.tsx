import { Component, type ReactNode } from 'react'
import { notify } from '../api/notify.ts'
import { translate, useTranslation } from '../i18n.ts'
import { useSystemInfo } from '../session/useSystemInfo.ts'
import '../kit/panel.css'

interface State {
  readonly error: Error | null
}

const reloadedKey = 'zhisuan.reloaded'

/** A script that is gone: the platform was updated since this page was opened, or the network failed. */
const isMissingScript = (error: Error): boolean => /dynamically imported module|importing a module script|preload CSS|module script failed/i.test(error.message)

/** Whether the platform answers: reloaded without it, the page would be the browser's own, and everything here would be lost. */
const isThere = (): Promise<boolean> =>
  fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Reloads once by itself, not again within a minute: a script that stays missing must not reload for ever. */
async function reloadOnce(): Promise<void> {
  try {
    if (Date.now() - Number(sessionStorage.getItem(reloadedKey) ?? 0) < 60_000) return
    if (!(await isThere())) return
    sessionStorage.setItem(reloadedKey, String(Date.now()))
    location.reload()
  } catch {
    // Without a memory it might reload for ever.
  }
}

/** Whom to call, where the platform names somebody. It is asked before anything fails: then it may not answer. */
function Support() {
  const { t } = useTranslation()
  const phone = useSystemInfo().data?.support_phone ?? ''
  return phone === '' ? null : <p>{t('boundary.support', { phone })}</p>
}

/** Keeps what fails on a page within it: says what, and offers to try again. */
export class PageBoundary extends Component<{ readonly children: ReactNode; readonly onRetry?: () => void }, State> {
  override state: State = { error: null }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override componentDidCatch(error: unknown): void {
    if (error instanceof Error && isMissingScript(error)) void reloadOnce()
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    const missing = isMissingScript(error)
    return (
      <div className="zs-card">
        <div className="zs-panel" role="alert">
          <p className="zs-panel-title">{translate(missing ? 'boundary.missingTitle' : 'boundary.title')}</p>
          <p>{translate(missing ? 'boundary.missingText' : 'boundary.text')}</p>
          <Support />
          <p className="zs-panel-note">
            <code>{error.message}</code>
          </p>
          <span className="zs-panel-buttons">
            <button
              type="button"
              className="zs-button"
              onClick={() => {
                if (missing) void isThere().then((there) => (there ? location.reload() : notify('error', translate('error.offline'))))
                else {
                  this.setState({ error: null })
                  this.props.onRetry?.()
                }
              }}
            >
              {translate(missing ? 'boundary.reload' : 'boundary.retry')}
            </button>
            <a href="/" className="zs-button zs-button-plain">
              {translate('boundary.home')}
            </a>
          </span>
        </div>
      </div>
    )
  }
}
