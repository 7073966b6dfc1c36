import { configs, type ConfigEntry, type EnvironmentEntry } from '@zhisuan/contract/sys/sys'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../paths.ts'
import { ArrearsPolicies } from '../bill/arrears/ArrearsPolicies.tsx'
import { IdentityProviders } from './IdentityProviders.tsx'
import { isSetting, nameOf, valueText } from './settingText.ts'
import { useResetSetting } from './useResetSetting.ts'

/** The platform's settings, and what its server was started with. */
export default function SettingList() {
  const { t } = useTranslation('settings')
  return (
    <DetailTabs
      tabs={[
        { key: 'settings', label: t('tab.settings'), content: <Settings /> },
        { key: 'signOn', label: t('tab.signOn'), content: <IdentityProviders /> },
        { key: 'arrears', label: t('tab.arrears'), content: <ArrearsPolicies /> },
        { key: 'environment', label: t('tab.environment'), content: <Environment /> },
      ]}
    />
  )
}

function Settings() {
  const { t } = useTranslation('settings')
  const resetOf = useResetSetting()
  const toSetting = ({ key }: ConfigEntry): string => withQuery(paths.platform.configuration.detail(), { key })
  return (
    <ResourceTable
      call={configs.list}
      rowKey="key"
      nameOf={({ key }) => nameOf(t, key)}
      columns={[
        col.name<ConfigEntry>('name', t('column.name'), ({ key }) => nameOf(t, key), {
          width: 260,
          to: toSetting,
          note: ({ key }) => (isSetting(key) ? t(`setting.${key}.meaning`) : t('custom')),
        }),
        col.text<ConfigEntry>('value', t('column.value'), ({ key, value }) => valueText(t, key, value), { width: 260 }),
        col.text<ConfigEntry>('default', t('column.default'), ({ key, default_value }) => (default_value === null ? null : valueText(t, key, default_value)), {
          width: 160,
        }),
        col.date<ConfigEntry>('updated', t('column.updated'), ({ updated_at }) => updated_at),
        col.text<ConfigEntry>('author', t('column.author'), ({ updated_by }) => updated_by, { width: 120 }),
        col.code<ConfigEntry>('key', t('column.key'), ({ key }) => key, { off: true }),
      ]}
      rowActions={(row) => [{ key: 'edit', call: configs.set, label: t('edit'), href: toSetting(row) }, resetOf(row)]}
    />
  )
}

function Environment() {
  const { t } = useTranslation('settings')
  return (
    <>
      <p className="zs-soft">{t('environmentNote')}</p>
      <ResourceTable
        call={configs.environment}
        rowKey="key"
        name="environment"
        refreshMs={false}
        columns={[
          col.code<EnvironmentEntry>('key', t('column.key'), ({ key }) => key, { width: 230 }),
          col.text<EnvironmentEntry>('value', t('column.value'), (entry) => entry.value ?? t(entry.given ? 'secret' : 'none'), { width: 320 }),
          col.custom<EnvironmentEntry>('meaning', t('column.meaning'), ({ key }) => t(`environment.${key}`)),
        ]}
      />
    </>
  )
}
