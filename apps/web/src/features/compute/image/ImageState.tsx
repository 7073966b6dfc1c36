import type { ComputeImage } from '@zhisuan/contract/compute/image'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { imageTones } from './imageRules.ts'
import { useUpload } from './uploads.ts'

/** What an image is at, and how much of its file has gone from this tab. */
export function ImageState({ image }: { readonly image: Pick<ComputeImage, 'id' | 'status'> }) {
  const { t } = useTranslation('computeImage')
  const here = useUpload(image.id)
  const upload = image.status === 'queued' || image.status === 'saving' ? here : null
  return (
    <>
      <StatusTag tone={upload?.state === 'running' ? 'busy' : upload?.state === 'failed' ? 'bad' : imageTones[image.status]}>
        {upload === null ? t(`status.${image.status}`) : t(`upload.${upload.state}`)}
      </StatusTag>
      {upload?.state === 'running' && (
        <div className="zs-name-note zs-number">{format.percent(Math.floor((upload.sentBytes / upload.totalBytes) * 1000) / 1000)}</div>
      )}
    </>
  )
}
