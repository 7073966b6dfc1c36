import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import { computeImages, computeImageVisibilities, computeOsTypes, type ComputeImage } from '@zhisuan/contract/compute/image'
import { useTranslation } from '../../../i18n.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { SwitchField, TextField } from '../../../kit/fields.tsx'
import { useIsPlatform } from '../../../session/user.ts'

const { shape } = computeImages.create.body

/** What is said of an image: its name, its system, what it needs, and who sees it. */
export function AboutFields({ now }: { readonly now?: ComputeImage['visibility'] }) {
  const { t } = useTranslation('computeImage')
  const platform = useIsPlatform()
  return (
    <>
      <TextField name="name" label={t('column.name')} schema={shape.name} autoFocus />
      <div className="zs-two">
        <Form.Item name="os_type" label={t('field.osType')}>
          <Select allowClear placeholder={t('field.unsaid')} options={computeOsTypes.map((value) => ({ value, label: t(`osType.${value}`) }))} />
        </Form.Item>
        <TextField name="distribution" label={t('column.distribution')} schema={shape.distribution} placeholder="ubuntu" />
        <NumberField
          name="min_disk_gib"
          label={t('field.minDisk')}
          min={0}
          max={1_000_000}
          suffix="GB"
          placeholder={t('field.unlimited')}
          style={{ width: '100%' }}
        />
        <NumberField
          name="min_memory_mib"
          label={t('field.minMemory')}
          min={0}
          max={100_000_000}
          suffix="MB"
          placeholder={t('field.unlimited')}
          style={{ width: '100%' }}
        />
      </div>
      <Form.Item name="visibility" label={t('column.visibility')} extra={t('field.visibilityNote')}>
        <Radio.Group
          options={computeImageVisibilities
            .filter((one) => one === now || one !== 'public' || platform)
            .map((value) => ({ value, label: t(`visibility.${value}`) }))}
        />
      </Form.Item>
      <SwitchField name="protected" label={t('field.protected')} extra={t('field.protectedNote')} />
    </>
  )
}
