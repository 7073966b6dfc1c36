import Form from 'antd/es/form'
import Input from 'antd/es/input'
import InputNumber from 'antd/es/input-number'
import Switch from 'antd/es/switch'
import { imageLibrary } from '@zhisuan/contract/nextstack/image'
import { useTranslation } from 'react-i18next'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { field } from '../../../kit/rules.ts'
import { SizeInput } from '../../../kit/SizeInput.tsx'
import './image.css'

const { shape } = imageLibrary.update.body

/** What is said of an image: its name, its system, and what it needs. */
export function AboutFields({ focus = false }: { readonly focus?: boolean }) {
  const { t } = useTranslation('image')
  return (
    <>
      <NameField schema={shape.name} focus={focus} />
      <div className="im-two">
        <Form.Item name="os" label={t('field.os')} {...field(shape.os)}>
          <Input maxLength={64} placeholder={t('field.osExample')} />
        </Form.Item>
        <Form.Item name="release" label={t('field.release')} {...field(shape.release)}>
          <Input maxLength={64} placeholder={t('field.releaseExample')} />
        </Form.Item>
      </div>
      <Form.Item name="cloud_init" label={t('field.cloudInit')} extra={t('field.cloudInitNote')} valuePropName="checked">
        <Switch />
      </Form.Item>
      <p className="zs-soft im-minimum">{t('field.minimumNote')}</p>
      <Form.Item name="min_cpu_cores" label={t('field.minCpu')}>
        <InputNumber<number> min={1} max={512} precision={0} />
      </Form.Item>
      <div className="im-two">
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
