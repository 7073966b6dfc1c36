import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import Upload from 'antd/es/upload'
import { useQueryClient } from '@tanstack/react-query'
import type { ComputeImage } from '@zhisuan/contract/compute/image'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import './image.css'
import { invalidatedByImage } from './imageRules.ts'
import { forgetUpload, startUpload, useUpload } from './uploads.ts'

/** What an image without content waits for: the file that is on its way from here, or that is still to be chosen. */
export function UploadProgress({ image, cloudId, onImport }: { readonly image: ComputeImage; readonly cloudId: string; readonly onImport: () => void }) {
  const { t } = useTranslation('computeImage')
  const client = useQueryClient()
  const local = useUpload(image.id)
  const [empty, setEmpty] = useState(false)
  if (!image.mine || (image.status !== 'queued' && local === null)) return null
  const ended = (): void => {
    for (const { id } of invalidatedByImage) void client.invalidateQueries({ queryKey: [id] })
  }
  if (local?.state === 'running') {
    const share = local.sentBytes / local.totalBytes
    return (
      <section className="zs-card cim-progress" aria-label={t('upload.progress')}>
        <Progress percent={Math.floor(share * 1000) / 10} status="active" aria-label={t('upload.progress')} />
        <p className="zs-line zs-number">
          <span>{t('upload.of', { sent: format.bytes(local.sentBytes), total: format.bytes(local.totalBytes) })}</span>
          <span>{format.bytesPerSecond(local.bytesPerSecond)}</span>
          {local.leftMs !== null && <span>{t('upload.left', { time: format.duration(Math.max(1_000, Math.round(local.leftMs / 1_000) * 1_000)) })}</span>}
        </p>
        <p className="cim-soft">{share >= 1 ? t('upload.storing') : t('upload.keepOpen')}</p>
        <Button
          onClick={() => {
            forgetUpload(image.id)
            ended()
          }}
        >
          {t('upload.stop')}
        </Button>
      </section>
    )
  }
  return (
    <Alert
      className="zs-above"
      showIcon
      type={local === null ? 'info' : 'error'}
      title={t(local === null ? 'upload.waits' : 'upload.brokeOff')}
      description={
        <>
          <p>{t('upload.waitsNote')}</p>
          <span className="zs-line">
            <Upload
              showUploadList={false}
              beforeUpload={(file) => {
                setEmpty(file.size === 0)
                if (file.size > 0) startUpload({ cloudId, imageId: image.id }, file, ended)
                return false
              }}
            >
              <Button type="primary">{t('upload.choose')}</Button>
            </Upload>
            <Button onClick={onImport}>{t('import.action')}</Button>
            {empty && <span role="alert">{t('field.fileEmpty')}</span>}
          </span>
        </>
      }
    />
  )
}
