import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import { useTranslation } from '../../i18n.ts'
import { errorText } from '../../api/toasts.ts'
import type { Upload } from './fileUpload.ts'
import type { Uploads } from './useUploads.ts'
import './container.css'

/** How far files on their way are, and what became of the others. */
export function UploadList({ uploads: { all, cancel, dismiss } }: { readonly uploads: Uploads }) {
  const { t } = useTranslation('container')
  if (all.length === 0) return null
  return (
    <ul className="cn-uploads" aria-label={t('file.uploads')}>
      {all.map((upload) => (
        <li key={upload.id}>
          <span className="zs-cut" title={upload.name}>
            {upload.name}
          </span>
          <Progress
            percent={shareOf(upload)}
            size="small"
            status={upload.state === 'failed' ? 'exception' : upload.state === 'done' ? 'success' : 'normal'}
            aria-label={upload.name}
          />
          <Outcome upload={upload} />
          {(upload.state === 'waiting' || upload.state === 'running') && (
            <Button type="link" size="small" aria-label={t('file.cancelOf', { name: upload.name })} onClick={() => cancel(upload.id)}>
              {t('file.cancel')}
            </Button>
          )}
        </li>
      ))}
      {all.some(({ state }) => state !== 'waiting' && state !== 'running') && (
        <li>
          <Button type="link" size="small" onClick={dismiss}>
            {t('file.dismiss')}
          </Button>
        </li>
      )}
    </ul>
  )
}

/** An empty file is there as soon as it is sent. */
const shareOf = ({ state, sentBytes, totalBytes }: Upload): number =>
  state === 'done' ? 100 : totalBytes === 0 ? 0 : Math.floor((sentBytes / totalBytes) * 100)

function Outcome({ upload: { state, error } }: { readonly upload: Upload }) {
  const { t } = useTranslation('container')
  if (state === 'failed') return <span className="zs-bad">{error === null ? t('file.failed') : errorText(error)}</span>
  return (
    <span className="zs-soft" role="status">
      {state === 'running' ? '' : t(`file.${state}`)}
    </span>
  )
}
