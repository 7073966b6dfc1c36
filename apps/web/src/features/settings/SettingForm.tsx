import Alert from 'antd/es/alert'
import Form, { type FormInstance } from 'antd/es/form'
import Input from 'antd/es/input'
import Radio from 'antd/es/radio'
import { configs, settings, system, type ConfigEntry } from '@zhisuan/contract/sys/sys'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { Field } from '../../kit/fields.tsx'
import * as format from '../../kit/format.ts'
import { FormPage } from '../../kit/FormPage.tsx'
import { paths } from '../../paths.ts'
import { isSet, isSetting, nameOf, valueText } from './settingText.ts'
import { invalidatedBySetting } from './useResetSetting.ts'
import './settings.css'

export interface SettingValues {
  value: string
}

const { shape } = configs.set.body

/** @param entry as it is now, read again and again: what is typed stays */
export function SettingForm({ form, entry }: { readonly form: FormInstance<SettingValues>; readonly entry: ConfigEntry }) {
  const { t } = useTranslation('settings')
  const navigate = useNavigate()
  const { key } = entry
  const set = useChange(configs.set, { invalidates: invalidatedBySetting })
  const submit = async ({ value }: SettingValues): Promise<void> => {
    const saved = await set.mutateAsync({ body: { key, value } })
    form.setFieldsValue({ value: saved.value })
    notify('success', t('saved', { name: nameOf(t, key) }))
  }
  return (
    <FormPage<SettingValues>
      form={form}
      initialValues={{ value: entry.value }}
      submitText={t('save')}
      onCancel={() => void navigate(paths.platform.configuration.list())}
      onSubmit={submit}
      aside={<Facts entry={entry} />}
    >
      <Field name="value" label={isSetting(key) ? t(`setting.${key}.meaning`) : t('value')} schema={isSetting(key) ? settings[key] : shape.value}>
        {key === 'register_mode' ? <RegisterModes /> : isSetting(key) ? <Input /> : <Input.TextArea autoSize={{ minRows: 3, maxRows: 20 }} />}
      </Field>
      {key === 'register_mode' && <SmsNotice />}
    </FormPage>
  )
}

/** Gets value and onChange from its Form.Item. */
function RegisterModes(props: { readonly value?: string; readonly onChange?: (event: unknown) => void }) {
  const { t } = useTranslation('settings')
  return (
    <Radio.Group
      {...props}
      className="settings-choices"
      options={settings.register_mode.options.map((choice) => ({
        value: choice,
        label: (
          <>
            {t(`choice.register_mode.${choice}`)}
            <div className="zs-soft">{t(`choiceNote.register_mode.${choice}`)}</div>
          </>
        ),
      }))}
    />
  )
}

/** Registration asks for a code: without a way to send one nobody gets through. */
function SmsNotice() {
  const { t } = useTranslation('settings')
  const wanted: unknown = Form.useWatch('value')
  const { data } = useCall(system.info, {}, { silent: true })
  if (data?.sms_available !== false || wanted === 'closed') return null
  return <Alert type="warning" showIcon title={t('noSms')} />
}

function Facts({ entry }: { readonly entry: ConfigEntry }) {
  const { t } = useTranslation('settings')
  const { key, value, default_value, updated_at, updated_by } = entry
  return (
    <dl className="zs-card settings-facts">
      <dt>{t('current')}</dt>
      <dd>{valueText(t, key, value)}</dd>
      {default_value !== null && (
        <>
          <dt>{t('column.default')}</dt>
          <dd>{valueText(t, key, default_value)}</dd>
        </>
      )}
      <dt>{t('updated')}</dt>
      <dd>{isSet(entry) ? t('by', { time: format.dateTime(updated_at), name: updated_by ?? format.nothing }) : t('isDefault')}</dd>
      {isSetting(key) && (
        <>
          <dt>{t('affects')}</dt>
          <dd>{t(`setting.${key}.affects`)}</dd>
        </>
      )}
      <dt>{t('column.key')}</dt>
      <dd className="zs-code">{key}</dd>
    </dl>
  )
}
