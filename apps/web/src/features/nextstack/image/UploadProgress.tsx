import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import Upload from 'antd/es/upload'
import { imageLibrary, type Image } from '@zhisuan/contract/nextstack/image'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import './image.css'
import { shareOf } from './imageRules.ts'
import { pauseUpload, resumeUpload, startUpload, useUpload } from '../../../kit/uploads.ts'

/** How far a file has come: from this tab, with its speed and what can be done about it, else as the server says. */
export function UploadProgress({ image }: { readonly image: Image }) {
  const { t } = useTranslation('image')
  const local = useUpload(image.id)
  const share = local === null ? shareOf(image) : local.sentBytes / local.totalBytes
  const [sent, total] = local === null ? [image.received_bytes, image.size_bytes] : [local.sentBytes, local.totalBytes]
  if (image.status !== 'uploading' && image.status !== 'fetching') return null
  return (
    <section className="zs-card im-progress" aria-label={t('upload.progress')}>
      {share !== null && (
        <Progress
          percent={Math.floor(share * 1000) / 10}
          status={local?.state === 'failed' ? 'exception' : local?.state === 'running' || image.status === 'fetching' ? 'active' : 'normal'}
          aria-label={t('upload.progress')}
        />
      )}
      <p className="zs-line zs-number" aria-live="off">
        <span>
          {total === null
            ? t('upload.received', { received: format.bytes(sent) })
            : t('upload.of', { received: format.bytes(sent), total: format.bytes(total) })}
        </span>
        {local?.state === 'running' && <span>{format.bytesPerSecond(local.bytesPerSecond)}</span>}
        {local?.state === 'running' && local.leftMs !== null && (
          <span>{t('upload.left', { time: format.duration(Math.max(1_000, Math.round(local.leftMs / 1_000) * 1_000)) })}</span>
        )}
      </p>
      {local?.state === 'failed' && (
        <p className="zs-bad" role="alert">
          {t('upload.failedNote')}
        </p>
      )}
      {local?.state === 'running' && <p className="zs-soft">{t('upload.keepOpen')}</p>}
      {image.mine && image.status === 'uploading' && (
        <p className="zs-line">
          {local === null ? (
            <ChooseAgain image={image} />
          ) : local.state === 'running' ? (
            <Button onClick={() => pauseUpload(image.id)}>{t('upload.pause')}</Button>
          ) : (
            <Button type="primary" onClick={() => resumeUpload(image.id)}>
              {t('upload.resume')}
            </Button>
          )}
        </p>
      )}
    </section>
  )
}

/** After the page was left: the browser forgot which file it was, so the person says it again. */
function ChooseAgain({ image }: { readonly image: Image }) {
  const { t } = useTranslation('image')
  const client = useQueryClient()
  const [wrong, setWrong] = useState(false)
  return (
    <>
      <Upload
        showUploadList={false}
        beforeUpload={(file) => {
          const same = file.size === image.size_bytes
          setWrong(!same)
          if (same)
            void startUpload(
              image.id,
              `${imageLibrary.get.path.replace('{id}', image.id)}/file`,
              file,
              () => void client.invalidateQueries({ queryKey: [imageLibrary.get.id] }),
            )
          return false
        }}
      >
        <Button type="primary">{t('upload.chooseAgain')}</Button>
      </Upload>
      <span className="zs-soft">{t('upload.chooseNote', { size: format.bytes(image.size_bytes) })}</span>
      {wrong && (
        <span className="zs-bad" role="alert">
          {t('upload.otherFile', { size: format.bytes(image.size_bytes) })}
        </span>
      )}
    </>
  )
}
