import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { imageLibrary, type Image } from '@zhisuan/contract/nextstack/image'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { saveFrom } from '../../../kit/save.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { ImageEdit, ImageShare } from './ImageDialogs.tsx'
import { pathsOf, invalidatedByImage, whyNotImage } from './imageRules.ts'
import { forgetUpload } from '../../../kit/uploads.ts'

/**
 * What can be done to images.
 * @param cloud null where it is not known; then it is not judged
 */
export function useImageActions(
  cloud: CloudBasic | null,
  onDeleted?: () => void,
): {
  readonly actionsOf: (image: Image) => readonly Action[]
  readonly batchActions: readonly BatchAction<Image>[]
} {
  const { t } = useTranslation('image')
  const platform = useIsPlatform()
  const dialogs = {
    edit: (image: Image, close: () => void) => <ImageEdit image={image} onClose={close} />,
    share: (image: Image, close: () => void) => <ImageShare image={image} onClose={close} />,
  }
  const link = useChange(imageLibrary.download)
  const update = useChange(imageLibrary.update, { invalidates: invalidatedByImage })
  const remove = useChange(imageLibrary.delete, { invalidates: invalidatedByImage, silent: true })

  const opening = (kind: keyof typeof dialogs, image: Image): Action => ({
    key: kind,
    call: kind === 'edit' ? imageLibrary.update : imageLibrary.share,
    label: t(`action.${kind}`),
    disabledReason: whyNotImage(t, kind === 'edit' ? 'update' : 'share', image, cloud),
    dialog: (close) => dialogs[kind](image, close),
  })
  const publishing = (image: Image): Action => {
    const { id, name, description, os, release, cloud_init, min_cpu_cores, min_memory_bytes, min_disk_bytes } = image
    const to = image.visibility === 'public' ? 'private' : 'public'
    return {
      key: 'visibility',
      call: imageLibrary.update,
      label: t(`action.make.${to}`),
      disabledReason: whyNotImage(t, 'update', image, cloud),
      doneText: t(`done.make.${to}`, { name }),
      confirm: { title: t(`make.${to}.title`, { name }), body: t(`make.${to}.body`) },
      run: () =>
        update.mutateAsync({
          params: { id },
          body: { name, description, os, release, cloud_init, min_cpu_cores, min_memory_bytes, min_disk_bytes, visibility: to },
        }),
    }
  }
  const deleteBody = (image: Image): string => {
    if (image.status === 'uploading' || image.status === 'fetching') return t('delete.coming')
    if (image.status === 'publishing') return t('delete.making')
    return image.vm_count > 0 ? t('delete.used', { count: image.vm_count }) : t('delete.body')
  }

  return {
    actionsOf: (image) => [
      {
        key: 'open',
        call: null,
        label: t(image.status === 'uploading' && image.mine ? 'action.upload' : 'action.open'),
        href: pathsOf(image, platform).detail(image.id),
      },
      opening('share', image),
      opening('edit', image),
      {
        key: 'download',
        call: imageLibrary.download,
        label: t('action.download'),
        disabledReason: whyNotImage(t, 'download', image, cloud),
        run: async () => saveFrom((await link.mutateAsync({ params: { id: image.id } })).path),
      },
      ...(platform ? [publishing(image)] : []),
      {
        key: 'delete',
        call: imageLibrary.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNotImage(t, 'delete', image, cloud),
        doneText: t('done.delete', { name: image.name }),
        confirm: { title: t('delete.title', { name: image.name }), body: deleteBody(image), ...(image.status === 'active' && { typeToConfirm: image.name }) },
        run: async () => {
          forgetUpload(image.id)
          await remove.mutateAsync({ params: { id: image.id } })
          onDeleted?.()
        },
      },
    ],
    batchActions: [
      {
        key: 'delete',
        call: imageLibrary.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: (image) => whyNotImage(t, 'delete', image, cloud),
        run: ({ id }) => {
          forgetUpload(id)
          return remove.mutateAsync({ params: { id } })
        },
        confirm: (of) => ({ title: t('delete.many', { count: of.length }), body: t('delete.body') }),
      },
    ],
  }
}
