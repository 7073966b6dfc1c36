import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Drawer from 'antd/es/drawer'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import Skeleton from 'antd/es/skeleton'
import { cloudProducts, clouds, connectionsOf, type Cloud } from '@zhisuan/contract/cmp/cloud'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { TextAreaField, TextField } from '../../kit/fields.tsx'
import { LeaveDialog } from '../../kit/LeaveDialog.tsx'
import type { ApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { errorText } from '../../api/toasts.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { useReturnFocus } from '../../kit/focus.ts'
import { showFieldErrors } from '../../kit/rules.ts'
import { connectionOf, firstValues, type CloudValues } from './cloudForm.ts'
import { isConnectionType, invalidatedByCloud } from './cloudRules.ts'
import { ConnectionFields } from './ConnectionFields.tsx'
import { ConnectionCheck } from './ConnectionCheck.tsx'
import { LabelsEditor, labelsRule } from './LabelsEditor.tsx'
import './clouds.css'
import '../../kit/form.css'

const shape = clouds.create.body.shape

/** Registers a cloud, or with one changes it. Secrets go in and are never shown again. */
export function CloudDrawer({ cloud, onClose }: { readonly cloud: Cloud | null; readonly onClose: () => void }) {
  const { t } = useTranslation('clouds')
  useReturnFocus()
  const [form] = Form.useForm<CloudValues>()
  const [reconnect, setReconnect] = useState(cloud === null)
  const [dirty, setDirty] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const [refused, setRefused] = useState<{ text: string; rest: readonly string[] } | null>(null)
  const create = useChange(clouds.create, { invalidates: invalidatedByCloud, silent: true })
  const update = useChange(clouds.update, { invalidates: invalidatedByCloud, silent: true })
  const product = Form.useWatch('product', form) ?? cloud?.product ?? 'nextstack'
  const connection: unknown = Form.useWatch('connection', form)
  // The list does not say how an OpenStack is reached.
  const known = useCall(
    clouds.get,
    { params: { id: cloud?.cloud_id ?? '' } },
    { enabled: cloud !== null && cloud.product !== 'nextstack' && reconnect, silent: true },
  )
  const settings = known.data?.settings ?? null
  useEffect(() => {
    if (settings !== null) form.setFieldValue('connection', firstValues(cloud, settings))
  }, [form, cloud, settings])

  const submit = (values: CloudValues): void => {
    setRefused(null)
    const { name, description, labels } = values
    const outcome = {
      onSuccess: () => {
        notify('success', t(cloud === null ? 'done.create' : 'done.edit', { name }))
        onClose()
      },
      onError: (error: ApiError) => setRefused({ text: errorText(error), rest: showFieldErrors(form, error.fields).map(({ message }) => message) }),
    }
    if (cloud === null)
      create.mutate({ body: { name, description, labels, product: values.product, connection: connectionOf(values.connection, true) } }, outcome)
    else
      update.mutate(
        { params: { id: cloud.cloud_id }, body: { name, description, labels, ...(reconnect && { connection: connectionOf(values.connection) }) } },
        outcome,
      )
  }
  const saving = create.isPending || update.isPending

  return (
    <Drawer
      open
      size={720}
      title={cloud === null ? t('form.createTitle') : t('form.editTitle', { name: cloud.name })}
      mask={{ closable: !dirty }}
      onClose={() => (dirty ? setLeaving(true) : onClose())}
      footer={
        <div className="zs-form-foot">
          <Button type="primary" loading={saving} onClick={form.submit}>
            {cloud === null ? t('form.submitCreate') : t('form.submitEdit')}
          </Button>
          <Button onClick={() => (dirty ? setLeaving(true) : onClose())}>{t('form.cancel')}</Button>
        </div>
      }
    >
      <Form<CloudValues>
        noValidate
        form={form}
        layout="vertical"
        initialValues={{
          name: cloud?.name ?? '',
          description: cloud?.description ?? '',
          product: cloud?.product ?? 'nextstack',
          labels: cloud?.labels ?? [],
          connection: firstValues(cloud, null),
        }}
        onValuesChange={(changed: Partial<CloudValues>) => {
          setDirty(true)
          // Each product has connections of its own.
          if (changed.product !== undefined) form.setFieldValue(['connection', 'type'], connectionsOf(changed.product)[0])
        }}
        onFinish={submit}
        scrollToFirstError={{ block: 'center', focus: true }}
      >
        <h2 className="cl-heading">{t('form.basics')}</h2>
        <TextField name="name" label={t('form.name')} extra={t('form.nameNote')} schema={shape.name} autoFocus />
        <TextAreaField name="description" label={t('form.description')} schema={shape.description} rows={2} showCount />
        <Form.Item name="product" label={t('form.product')} required>
          <Select disabled={cloud !== null} options={cloudProducts.map((value) => ({ value, label: t(`product.${value}`) }))} />
        </Form.Item>

        <h2 className="cl-heading">{t('form.connection')}</h2>
        {cloud !== null && (
          <>
            <p>
              {t('form.connectionNow', {
                type: isConnectionType(cloud.connection.type) ? t(`form.connectionType.${cloud.connection.type}`) : cloud.connection.type,
              })}{' '}
              <span className="zs-code">{cloud.connection.address}</span>
            </p>
            <Form.Item>
              <Checkbox checked={reconnect} onChange={(event) => setReconnect(event.target.checked)}>
                {t('form.connectionChange')}
              </Checkbox>
            </Form.Item>
          </>
        )}
        {reconnect && known.isLoading && <Skeleton active paragraph={{ rows: 5 }} />}
        {reconnect && known.isLoadingError && <ErrorPanel error={known.error} onRetry={() => void known.refetch()} />}
        {reconnect && !known.isLoading && !known.isLoadingError && (
          <>
            <ConnectionFields product={product} registered={settings !== null} />
            <ConnectionCheck form={form} product={product} cloudId={cloud?.cloud_id ?? null} current={connection} />
          </>
        )}

        <h2 className="cl-heading">{t('form.labels')}</h2>
        <Form.Item name="labels" extra={t('form.labelsNote')} rules={[labelsRule]} validateTrigger="onSubmit">
          <LabelsEditor />
        </Form.Item>
        {refused !== null && <Alert type="error" showIcon title={t('form.refused', { reason: refused.text })} description={refused.rest.join('；')} />}
      </Form>
      <LeaveDialog open={leaving} onLeave={onClose} onStay={() => setLeaving(false)} />
    </Drawer>
  )
}
