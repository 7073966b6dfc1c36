import type { Image } from '@zhisuan/contract/nextstack/image'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import { StateTag } from '../storage/StateTag.tsx'
import { imageTones, shareOf } from './imageRules.ts'
import { useUpload } from '../../../kit/uploads.ts'

/** What an image is at, how much of it is here while it comes, and what went wrong. */
export function ImageState({ image }: { readonly image: Pick<Image, 'id' | 'status' | 'error' | 'received_bytes' | 'size_bytes' | 'mine'> }) {
  const { t } = useTranslation('image')
  const here = useUpload(image.id)
  // Once it is whole, what this tab knew of its coming says nothing.
  const local = image.status === 'uploading' ? here : null
  const share = local === null ? shareOf(image) : local.sentBytes / local.totalBytes
  const waits = image.status === 'uploading' && local?.state !== 'running'
  return (
    <>
      <StateTag
        tone={waits ? 'warning' : imageTones[image.status]}
        text={waits ? t(local === null ? 'upload.waiting' : `upload.${local.state}`) : t(`status.${image.status}`)}
        reason={image.error ?? (image.status === 'lost' ? t('lostReason') : null)}
      />
      {share !== null && <div className="zs-name-note zs-number">{format.percent(Math.floor(share * 1000) / 1000)}</div>}
    </>
  )
}
