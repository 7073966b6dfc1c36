import Form from 'antd/es/form'
import { imageLibrary } from '@zhisuan/contract/nextstack/image'
import { useTranslation } from '../../../i18n.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { SwitchField, TextField } from '../../../kit/fields.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { SizeInput } from '../../../kit/SizeInput.tsx'
import './image.css'

const { shape } = imageLibrary.update.body

/** What is said of an image: its name, its system, and what it needs. */
export function AboutFields({ focus = false }: { readonly focus?: boolean }) {
  const { t } = useTranslation('image')
  return (
    <>
      <NameField schema={shape.name} focus={focus} />
      <div className="zs-two">
        <TextField name="os" label={t('field.os')} schema={shape.os} placeholder={t('field.osExample')} />
        <TextField name="release" label={t('field.release')} schema={shape.release} placeholder={t('field.releaseExample')} />
      </div>
      <SwitchField name="cloud_init" label={t('field.cloudInit')} extra={t('field.cloudInitNote')} />
      <p className="zs-soft im-minimum">{t('field.minimumNote')}</p>
      <NumberField name="min_cpu_cores" label={t('field.minCpu')} min={1} max={512} />
      <div className="zs-two">
        <Form.Item name="min_memory_bytes" label={t('field.minMemory')}>
          <SizeInput />
        </Form.Item>
        <Form.Item name="min_disk_bytes" label={t('field.minDisk')}>
          <SizeInput />
        </Form.Item>
      </div>
      <DescriptionField schema={shape.description} />
    </>
  )
}
