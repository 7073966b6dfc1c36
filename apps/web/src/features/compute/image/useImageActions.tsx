import { computeInstances } from '@zhisuan/contract/compute/instance'
import { computeImageCan, computeImages, type ComputeImage } from '@zhisuan/contract/compute/image'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { DrawDialog } from '../../../kit/dialogs.tsx'
import { allowed } from '../../../kit/allowed.ts'
import { saveFrom } from '../../../kit/save.ts'
import { paths, withQuery } from '../../../paths.ts'
import { ImageDialog, type ImageDialogKind } from './ImageDialogs.tsx'
import { invalidatedByImage } from './imageRules.ts'
import { forgetUpload } from './uploads.ts'

/** What can be done to an image. */
export function useImageActions(
  cloudId: string,
  onDeleted?: () => void,
): { readonly actionsOf: (image: ComputeImage) => readonly Action[]; readonly opening: (kind: ImageDialogKind, image: ComputeImage) => DrawDialog } {
  const { t } = useTranslation('computeImage')
  const invalidates = invalidatedByImage
  const answer = useChange(computeImages.answer, { invalidates })
  const deactivate = useChange(computeImages.deactivate, { invalidates })
  const reactivate = useChange(computeImages.reactivate, { invalidates })
  const download = useChange(computeImages.download)
  const remove = useChange(computeImages.delete, { invalidates })
  const opening =
    (kind: ImageDialogKind, image: ComputeImage): DrawDialog =>
    (close) => <ImageDialog kind={kind} image={image} cloudId={cloudId} onClose={close} />

  const actionsOf = (image: ComputeImage): readonly Action[] => {
    const at = { params: { cloud_id: cloudId, id: image.id } }
    const forbids = (action: keyof typeof computeImageCan) => allowed(computeImageCan, action, image.status, t(`status.${image.status}`))
    const create: Action = {
      key: 'createInstance',
      call: computeInstances.create,
      label: t('action.createInstance'),
      href: withQuery(paths.compute.instance.add(), { image: image.id }),
      disabledReason: forbids('createInstance'),
    }
    const give: Action = {
      key: 'download',
      call: computeImages.download,
      label: t('action.download'),
      disabledReason: forbids('download'),
      run: async () => saveFrom((await download.mutateAsync(at)).path),
    }
    if (!image.mine) {
      const reply = (accept: boolean): Action => ({
        key: accept ? 'accept' : 'reject',
        call: computeImages.answer,
        label: t(accept ? 'action.accept' : 'action.reject'),
        doneText: t(accept ? 'done.accept' : 'done.reject'),
        ...(!accept && { confirm: { title: t('confirm.reject', { name: image.name }), body: t('confirm.rejectNote') } }),
        run: () => answer.mutateAsync({ ...at, body: { accept } }),
      })
      return [
        ...(image.offer === 'pending' || image.offer === 'rejected' ? [reply(true)] : []),
        create,
        give,
        ...(image.offer === 'pending' || image.offer === 'accepted' ? [reply(false)] : []),
      ]
    }
    return [
      create,
      { key: 'edit', call: computeImages.update, label: t('action.edit'), disabledReason: forbids('update'), dialog: opening('edit', image) },
      { key: 'offer', call: computeImages.offer, label: t('action.offer'), disabledReason: forbids('share'), dialog: opening('offer', image) },
      ...(image.status === 'queued' ? [{ key: 'import', call: computeImages.import, label: t('import.action'), dialog: opening('import', image) }] : []),
      give,
      image.status === 'deactivated'
        ? {
            key: 'reactivate',
            call: computeImages.reactivate,
            label: t('action.reactivate'),
            doneText: t('done.reactivate'),
            run: () => reactivate.mutateAsync(at),
          }
        : {
            key: 'deactivate',
            call: computeImages.deactivate,
            label: t('action.deactivate'),
            disabledReason: forbids('deactivate'),
            confirm: { title: t('confirm.deactivate', { name: image.name }), body: t('confirm.deactivateNote') },
            doneText: t('done.deactivate'),
            run: () => deactivate.mutateAsync(at),
          },
      {
        key: 'delete',
        call: computeImages.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: image.protected ? t('protectedReason') : forbids('delete'),
        confirm: { title: t('confirm.delete', { name: image.name }), body: t('confirm.deleteNote') },
        doneText: t('done.delete'),
        run: async () => {
          await remove.mutateAsync(at)
          forgetUpload(image.id)
          onDeleted?.()
        },
      },
    ]
  }
  return { actionsOf, opening }
}
