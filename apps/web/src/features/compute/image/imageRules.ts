import { computeImages, type ComputeImage, type ComputeImageStatus } from '@zhisuan/contract/compute/image'
import type { Call } from '@zhisuan/contract/define'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

export const imageTones: Readonly<Record<ComputeImageStatus, StatusTone>> = {
  queued: 'warning',
  saving: 'busy',
  uploading: 'busy',
  importing: 'busy',
  active: 'good',
  killed: 'bad',
  deleted: 'rest',
  pending_delete: 'busy',
  deactivated: 'rest',
}

/** What is no longer true after an image was made, changed or deleted. */
export const invalidatedByImage: readonly Call[] = [computeImages.list, computeImages.get]

/** What people look for: whose an image is, and how they came to see it. */
export const imageSources = ['public', 'own', 'offered', 'community'] as const
export const sourceOf = (image: Pick<ComputeImage, 'visibility' | 'mine' | 'offer'>): (typeof imageSources)[number] =>
  image.visibility === 'public' ? 'public' : image.mine ? 'own' : image.visibility === 'community' ? 'community' : 'offered'
