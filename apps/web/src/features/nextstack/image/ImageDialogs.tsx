import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { imageLibrary, type Image } from '@zhisuan/contract/nextstack/image'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { AboutFields } from './AboutFields.tsx'
import { aboutBody, aboutOf, type AboutValues } from './imageForm.ts'
import { invalidatedByImage } from './imageRules.ts'

/** Changes what is said of an image; its content stays as it is. */
export function ImageEdit({ image, onClose }: Dialog<{ image: Image }>) {
  const { t } = useTranslation('image')
  const update = useChange(imageLibrary.update, { invalidates: invalidatedByImage, silent: true })
  return (
    <FormDialog<AboutValues>
      title={t('edit.title', { name: image.name })}
      okText={t('edit.ok')}
      initialValues={aboutOf(image)}
      doneText={t('done.edit')}
      onClose={onClose}
      width={600}
      onSubmit={(values) => update.mutateAsync({ params: { id: image.id }, body: aboutBody(values) })}
    >
      <AboutFields focus />
    </FormDialog>
  )
}

/** Which organisations may use an image besides its own; who shares one knows their names. */
export function ImageShare({ image, onClose }: Dialog<{ image: Image }>) {
  const { t } = useTranslation('image')
  const share = useChange(imageLibrary.share, { invalidates: invalidatedByImage, silent: true })
  return (
    <FormDialog<{ organisations: string[] }>
      title={t('share.title', { name: image.name })}
      okText={t('share.ok')}
      initialValues={{ organisations: image.shared_with.map(({ name }) => name) }}
      doneText={t('done.share')}
      onClose={onClose}
      onSubmit={({ organisations }) => share.mutateAsync({ params: { id: image.id }, body: { organisations } })}
    >
      <p>{t('share.note')}</p>
      <Form.Item name="organisations" label={t('share.organisations')} extra={t('share.organisationsNote')}>
        <Select
          mode="tags"
          open={false}
          suffixIcon={null}
          autoFocus
          tokenSeparators={[',', '，', '、', '\n']}
          maxCount={100}
          placeholder={t('share.placeholder')}
        />
      </Form.Item>
    </FormDialog>
  )
}
