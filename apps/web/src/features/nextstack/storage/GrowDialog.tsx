import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import { volumes, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import * as format from '../../../kit/format.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { SizeInput } from '../../../kit/SizeInput.tsx'
import { volumeItems } from '../../../kit/price/items.ts'
import { PriceChange } from '../../../kit/price/Price.tsx'
import { refusing, wrongWith } from '../../../kit/rules.ts'
import { invalidatedByVolume } from './storageRules.ts'

/** Makes a volume larger: what it is, what it becomes. */
export function VolumeGrow({ volume, onClose }: Dialog<{ volume: Volume }>) {
  const { t } = useTranslation('storage')
  const [form] = Form.useForm<{ size_bytes: number | null }>()
  const wanted = Form.useWatch('size_bytes', form) ?? 0
  const grow = useChange(volumes.grow, { invalidates: invalidatedByVolume, silent: true })
  const [from, to] = [format.bytes(volume.size_bytes), format.bytes(wanted)]
  const { size_bytes } = volumes.grow.body.shape
  return (
    <FormDialog<{ size_bytes: number | null }>
      form={form}
      title={t('grow.title', { name: volume.name })}
      okText={t('action.grow')}
      initialValues={{ size_bytes: volume.size_bytes * 2 }}
      doneText={t('done.grow', { name: volume.name, size: to })}
      onClose={onClose}
      onSubmit={(values) => grow.mutateAsync({ params: { id: volume.id }, body: { size_bytes: values.size_bytes ?? 0 } })}
    >
      <Form.Item
        name="size_bytes"
        label={t('grow.size')}
        required
        extra={
          <span aria-live="polite" className="zs-number">
            {wanted > volume.size_bytes ? t('grow.change', { from, to, more: format.bytes(wanted - volume.size_bytes) }) : t('grow.now', { from })}
          </span>
        }
        rules={[refusing((value: number) => wrongWith(size_bytes, value) ?? (value <= volume.size_bytes && t('grow.larger', { from })))]}
      >
        <SizeInput />
      </Form.Item>
      <PriceChange now={volumeItems(volume)} then={volumeItems({ pool: volume.pool, size_bytes: Math.max(wanted, volume.size_bytes) })} bpId={volume.bp_id} />
      <Alert type="info" showIcon title={t(`grow.note.${volume.content}`)} />
    </FormDialog>
  )
}
