import { configs, type ConfigChange, type ConfigEntry } from '@zhisuan/contract/sys/sys'
import Form from 'antd/es/form'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { Gone } from '../../kit/Gone.tsx'
import { useCall } from '../../api/hooks.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { PageActions, usePageTitle } from '../../kit/PageHead.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { SettingForm, type SettingValues } from './SettingForm.tsx'
import './settings.css'
import { nameOf, valueText } from './settingText.ts'
import { useResetSetting } from './useResetSetting.ts'

/** One setting of the platform, named by `key` in the address: to be changed or set back, with what it was before. */
export default function SettingDetail() {
  const { t } = useTranslation('settings')
  const [search] = useSearchParams()
  const key = search.get('key') ?? ''
  const { data, error, refetch, isPlaceholderData } = useCall(configs.list, { query: { key } }, { silent: true, refreshMs: 5_000, enabled: key !== '' })
  const entry = isPlaceholderData ? undefined : data?.items[0]
  usePageTitle(key === '' ? null : nameOf(t, key))
  if (entry !== undefined) return <OneSetting key={key} entry={entry} />
  // 400: what stands in the address is no key at all.
  if (error !== null && error.status !== 400)
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  if (key !== '' && error === null && (data === undefined || isPlaceholderData)) return <PagePlaceholder />
  return <Gone title={t('gone')} note={t('goneNote')} to={paths.platform.configuration.list()} back={t('back')} />
}

function OneSetting({ entry }: { readonly entry: ConfigEntry }) {
  const { t } = useTranslation('settings')
  const navigate = useNavigate()
  const [form] = Form.useForm<SettingValues>()
  const resetOf = useResetSetting(({ default_value }) => {
    if (default_value === null) void navigate(paths.platform.configuration.list())
    else form.setFieldsValue({ value: default_value })
  })
  return (
    <>
      <PageActions>
        <ActionMenu actions={[resetOf(entry)]} shown={1} look="default" label={nameOf(t, entry.key)} />
      </PageActions>
      <SettingForm form={form} entry={entry} />
      <section className="zs-card settings-history" aria-labelledby="setting-history">
        <h2 id="setting-history">{t('history')}</h2>
        <ResourceTable
          call={configs.changes}
          input={{ query: { key: entry.key } }}
          name="changes"
          empty={{ title: t('historyEmpty') }}
          columns={[
            col.date<ConfigChange>('created_at', t('column.updated'), ({ created_at }) => created_at, { sort: true, width: 140 }),
            col.text<ConfigChange>('author', t('column.author'), ({ actor_name }) => actor_name, { width: 180 }),
            col.text<ConfigChange>(
              'value',
              t('column.change'),
              ({ key, value }) => (value === null ? t('setBack') : t('setTo', { value: valueText(t, key, value) })),
              { width: 480 },
            ),
          ]}
        />
      </section>
    </>
  )
}
