import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Form from 'antd/es/form'
import type { Call } from '@zhisuan/contract/define'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { Field, RadioField, SwitchField, TextAreaField, TextField } from '../../../kit/fields.tsx'
import { LeaveDialog } from '../../../kit/LeaveDialog.tsx'
import type { ApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { showFieldErrors } from '../../../kit/rules.ts'
import { OrganisationsSelect } from '../../../kit/OrganisationSelect.tsx'
import { bodyOf, valuesOf, type FlavorValues } from './flavorForm.ts'
import { GpuModelInput } from './GpuModelInput.tsx'
import { SizeInput } from '../../../kit/SizeInput.tsx'
import '../compute.css'
import '../../../kit/form.css'

/** What is no longer true after a size was made, changed or deleted. */
export const invalidatedByFlavor: readonly Call[] = [flavors.list, flavors.get]

const { shape } = flavors.create.body
const gpuShape = shape.gpu.unwrap().unwrap().shape

/** Makes a size, or with one changes it. */
export function FlavorDrawer({ flavor, onClose }: { readonly flavor: Flavor | null; readonly onClose: () => void }) {
  const { t } = useTranslation('nextstackCompute')
  const [form] = Form.useForm<FlavorValues>()
  const [dirty, setDirty] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const [refused, setRefused] = useState<{ text: string; rest: readonly string[] } | null>(null)
  const create = useChange(flavors.create, { invalidates: invalidatedByFlavor, silent: true })
  const update = useChange(flavors.update, { invalidates: invalidatedByFlavor, silent: true })
  const withGpu = Form.useWatch('withGpu', form) ?? (flavor !== null && flavor.gpu !== null)
  const everybody = Form.useWatch('public', form) ?? flavor?.public ?? true
  const close = (): void => (dirty ? setLeaving(true) : onClose())

  const submit = (values: FlavorValues): void => {
    setRefused(null)
    const body = bodyOf(values)
    const outcome = {
      onSuccess: () => {
        notify('success', t(flavor === null ? 'flavor.done.create' : 'flavor.done.edit', { name: body.name }))
        onClose()
      },
      onError: (error: ApiError) => setRefused({ text: errorText(error), rest: showFieldErrors(form, error.fields).map(({ message }) => message) }),
    }
    if (flavor === null) create.mutate({ body }, outcome)
    else update.mutate({ params: { id: flavor.id }, body }, outcome)
  }

  return (
    <Drawer
      open
      size={640}
      title={flavor === null ? t('flavor.create') : t('flavor.edit', { name: flavor.name })}
      mask={{ closable: !dirty }}
      onClose={close}
      footer={
        <div className="zs-form-foot">
          <Button type="primary" loading={create.isPending || update.isPending} onClick={form.submit}>
            {flavor === null ? t('flavor.create') : t('form.save')}
          </Button>
          <Button onClick={close}>{t('form.cancel')}</Button>
        </div>
      }
    >
      <Form<FlavorValues>
        noValidate
        form={form}
        layout="vertical"
        initialValues={valuesOf(flavor)}
        onValuesChange={() => setDirty(true)}
        onFinish={submit}
        scrollToFirstError={{ block: 'center', focus: true }}
      >
        {flavor !== null && flavor.vm_count > 0 && <Alert className="zs-above" type="info" showIcon title={t('flavor.keeps', { count: flavor.vm_count })} />}
        <TextField name="name" label={t('flavor.field.name')} schema={shape.name} autoFocus />
        <TextAreaField name="description" label={t('flavor.field.description')} schema={shape.description} rows={2} showCount />
        <NumberField name="cpu_cores" label={t('flavor.field.cpu')} schema={shape.cpu_cores} />
        <Field name="memory_bytes" label={t('flavor.field.memory')} schema={shape.memory_bytes}>
          <SizeInput />
        </Field>
        <Field name="disk_bytes" label={t('flavor.field.disk')} extra={t('flavor.diskNote')} schema={shape.disk_bytes}>
          <SizeInput />
        </Field>
        <SwitchField name="withGpu" label={t('flavor.field.gpu')} aria-label={t('flavor.field.gpuUse')} />
        {withGpu && (
          <>
            <Field name={['gpu', 'model']} label={t('flavor.field.gpuModel')} extra={t('flavor.gpuNote')} schema={gpuShape.model}>
              <GpuModelInput />
            </Field>
            <NumberField name={['gpu', 'count']} label={t('flavor.field.gpuCount')} schema={gpuShape.count} />
          </>
        )}
        <RadioField
          name="public"
          label={t('flavor.field.visibility')}
          className="nc-radios"
          options={[
            { value: true, label: t('flavor.visibilityOption.public') },
            { value: false, label: t('flavor.visibilityOption.chosen') },
          ]}
        />
        {!everybody && (
          <Form.Item
            name="organisation_ids"
            label={t('flavor.field.organisations')}
            required
            rules={[{ type: 'array', min: 1, message: fieldTexts.organisationsRequired }]}
          >
            <OrganisationsSelect label={t('flavor.field.organisations')} known={flavor?.organisations ?? []} />
          </Form.Item>
        )}
        {refused !== null && <Alert type="error" showIcon title={t('form.refused', { reason: refused.text })} description={refused.rest.join('；')} />}
      </Form>
      <LeaveDialog open={leaving} onLeave={onClose} onStay={() => setLeaving(false)} />
    </Drawer>
  )
}
