import { edges } from '@zhisuan/contract/ecrm/edge'
import { alarmWindows, type AlarmWindow } from '@zhisuan/contract/omc/alarm'
import Form from 'antd/es/form'
import { useState } from 'react'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { MomentInput } from '../../kit/dates.tsx'
import { Field } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { NameField } from '../../kit/NameFields.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedByWindow } from './alarmRules.ts'

interface Values {
  name: string
  starts_at: string
  ends_at: string
  node_ids: string[]
}
const { shape } = alarmWindows.create.body
const usualMs = 2 * 3_600_000

/** Plans a time of maintenance, or with one changes it. */
export default function WindowDialog({ window, onClose }: Dialog<{ window: AlarmWindow | null }>) {
  const { t } = useTranslation('operations')
  const [form] = Form.useForm<Values>()
  const [opened] = useState(Date.now)
  const create = useChange(alarmWindows.create, { invalidates: invalidatedByWindow, silent: true })
  const update = useChange(alarmWindows.update, { invalidates: invalidatedByWindow, silent: true })
  const { data: nodes } = useCall(edges.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const submit = async (body: Values): Promise<string> => {
    if (window === null) await create.mutateAsync({ body })
    else await update.mutateAsync({ params: { id: window.id }, body })
    return body.name
  }
  return (
    <FormDialog<Values, string>
      form={form}
      title={window === null ? t('window.create') : t('window.editTitle', { name: window.name })}
      okText={t('settings.save')}
      initialValues={{
        name: window?.name ?? '',
        starts_at: window?.starts_at ?? new Date(opened).toISOString(),
        ends_at: window?.ends_at ?? new Date(opened + usualMs).toISOString(),
        node_ids: window?.nodes.map(({ id }) => id) ?? [],
      }}
      doneText={(name) => t('settings.saved', { name })}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <Field name="starts_at" label={t('window.starts')} required rules={[{ required: true, message: t('window.momentMissing') }]}>
        <MomentInput />
      </Field>
      <Field name="ends_at" label={t('window.ends')} extra={t('window.endsNote')} required rules={[{ required: true, message: t('window.momentMissing') }]}>
        <MomentInput />
      </Field>
      <SelectField<string[]>
        name="node_ids"
        label={t('alarm.nodes')}
        extra={t('window.nodesNote')}
        mode="multiple"
        allowClear
        placeholder={t('window.everything')}
        showSearch={{ optionFilterProp: 'label' }}
        options={(nodes?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
    </FormDialog>
  )
}
