import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { Call } from '@zhisuan/contract/define'
import { imageCan, imageLibrary, imageTransitional, type Image, type ImageStatus } from '@zhisuan/contract/nextstack/image'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { images } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { cloudRefuses } from '../../../session/cloud.ts'

/** How each status looks; what it is called stands under `status` in the messages. */
export const imageTones: Readonly<Record<ImageStatus, StatusTone>> = {
  uploading: 'busy',
  fetching: 'busy',
  publishing: 'busy',
  importing: 'busy',
  active: 'good',
  deleting: 'busy',
  error: 'bad',
  lost: 'bad',
}

/** What is no longer true after anything was done to an image. */
export const invalidatedByImage: readonly Call[] = [imageLibrary.list, imageLibrary.get, images.list, quotas.mine]

/** It will look different soon. */
export const isPassing = ({ status }: Pick<Image, 'status'>): boolean => imageTransitional.includes(status)

/** 0 to 1 of the bytes that are here; null where it cannot be said, or nothing comes. */
export function shareOf({ status, received_bytes, size_bytes }: Pick<Image, 'status' | 'received_bytes' | 'size_bytes'>): number | null {
  if ((status !== 'uploading' && status !== 'fetching') || size_bytes === null || size_bytes === 0) return null
  return Math.min(1, received_bytes / size_bytes)
}

/**
 * Why something cannot be done to an image now, or null where it can. The server refuses by the same
 * rules.
 * @param cloud null where it is not known; then it is not judged
 */
export function whyNotImage(
  t: TFunction<'image'>,
  action: keyof typeof imageCan,
  image: Pick<Image, 'status' | 'mine'>,
  cloud: Pick<CloudBasic, 'status'> | null,
): string | null {
  if (action !== 'createVm' && !image.mine) return t('notMine')
  if (action !== 'update' && action !== 'share' && action !== 'download' && cloudRefuses(cloud) !== null) return cloudRefuses(cloud)
  return allowed(imageCan, action, image.status, t(`status.${image.status}`))
}

/** Where an image's page is, and the list that it stands in. */
export const pathsOf = ({ visibility }: Pick<Image, 'visibility'>, platform: boolean) =>
  visibility === 'public' && platform ? paths.nextstack.publicImage : paths.nextstack.privateImage

/** Of a file, what an image may be called: without what the name rule forbids, and its endings. */
export function nameOfFile(fileName: string): string {
  const base = fileName.replace(/\.(?:tar(?:\.\w+)?|tgz|txz|qcow2|img|gz|xz|zst)$/i, '')
  return [...base.replace(/[^\p{Script=Han}A-Za-z0-9_\-.@]+/gu, '-').replace(/^-+|-+$/g, '')].slice(0, 64).join('')
}
