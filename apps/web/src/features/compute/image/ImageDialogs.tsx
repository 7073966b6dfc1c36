import Input from 'antd/es/input'
import { computeImages, type ComputeImage } from '@zhisuan/contract/compute/image'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { Field, TextField } from '../../../kit/fields.tsx'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { AboutFields } from './AboutFields.tsx'
import { aboutChanges, aboutOf, type AboutValues } from './imageForm.ts'
import { invalidatedByImage } from './imageRules.ts'

interface Props {
  readonly image: ComputeImage
  readonly cloudId: string
  readonly onClose: () => void
}
/** What can be asked about an image in a dialog. */
export type ImageDialogKind = 'edit' | 'offer' | 'import'

export function ImageDialog({ kind, ...props }: Props & { readonly kind: ImageDialogKind }) {
  const Dialog = { edit: EditDialog, offer: OfferDialog, import: ImportDialog }[kind]
  return <Dialog {...props} />
}

/** Changes what is said of an image; its content stays as it is. */
function EditDialog({ image, cloudId, onClose }: Props) {
  const { t } = useTranslation('computeImage')
  const update = useChange(computeImages.update, { invalidates: invalidatedByImage, silent: true })
  return (
    <FormDialog<AboutValues>
      title={t('edit.title', { name: image.name })}
      okText={t('edit.ok')}
      initialValues={aboutOf(image)}
      doneText={t('done.edit')}
      onClose={onClose}
      width={600}
      onSubmit={(values) => update.mutateAsync({ params: { cloud_id: cloudId, id: image.id }, body: aboutChanges(image, values) })}
    >
      <AboutFields now={image.visibility} />
    </FormDialog>
  )
}

/** To another organisation, or a project of one: who shares an image knows what they are called. */
function OfferDialog({ image, cloudId, onClose }: Props) {
  const { t } = useTranslation('computeImage')
  const offer = useChange(computeImages.offer, { invalidates: invalidatedByImage, silent: true })
  const { shape } = computeImages.offer.body
  return (
    <FormDialog<{ organisation: string; project: string }>
      title={t('offer.title', { name: image.name })}
      okText={t('offer.ok')}
      initialValues={{ organisation: '', project: '' }}
      doneText={t('done.offer')}
      onClose={onClose}
      onSubmit={({ organisation, project }) =>
        offer.mutateAsync({ params: { cloud_id: cloudId, id: image.id }, body: { organisation, project: project === '' ? null : project } })
      }
    >
      <p>{t(image.visibility === 'shared' ? 'offer.note' : 'offer.noteBecomes')}</p>
      <TextField name="organisation" label={t('offer.organisation')} schema={shape.organisation} autoFocus />
      <TextField name="project" label={t('offer.project')} extra={t('offer.projectNote')} schema={shape.project} />
    </FormDialog>
  )
}

/** The cloud fetches the content by itself. */
function ImportDialog({ image, cloudId, onClose }: Props) {
  const { t } = useTranslation('computeImage')
  const fetching = useChange(computeImages.import, { invalidates: invalidatedByImage, silent: true })
  return (
    <FormDialog<{ url: string }>
      title={t('import.title', { name: image.name })}
      okText={t('import.ok')}
      initialValues={{ url: '' }}
      doneText={t('done.import')}
      onClose={onClose}
      onSubmit={(body) => fetching.mutateAsync({ params: { cloud_id: cloudId, id: image.id }, body })}
    >
      <Field name="url" label={t('field.url')} extra={t('field.urlNote')} validateTrigger="onBlur" schema={computeImages.import.body.shape.url}>
        <Input autoFocus inputMode="url" placeholder="https://" />
      </Field>
    </FormDialog>
  )
}
