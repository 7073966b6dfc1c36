import LoadingOutlined from '@ant-design/icons/es/icons/LoadingOutlined'
import SearchOutlined from '@ant-design/icons/es/icons/SearchOutlined'
import ConfigProvider from 'antd/es/config-provider'
import zhCN from 'antd/es/locale/zh_CN'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { theme } from './theme.ts'

/** Language and look of antd's components. The first pages that visitors see do without, and so do not load it. */
export default function Antd({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation('kit')
  return (
    // Without antd's space between the two characters of a button, which a screen reader would spell; and with an icon
    // that goes with the loading: antd's own waits for an animation that never was, and the button stays named "loading".
    <ConfigProvider
      locale={zhCN}
      theme={theme}
      button={{ autoInsertSpace: false, loadingIcon: <LoadingOutlined aria-hidden /> }}
      inputSearch={{ searchIcon: <SearchOutlined aria-label={t('field.search')} /> }}
    >
      {children}
    </ConfigProvider>
  )
}
