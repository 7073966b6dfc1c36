import ConfigProvider from 'antd/es/config-provider'
import zhCN from 'antd/es/locale/zh_CN'
import type { ReactNode } from 'react'
import { theme } from '../theme.ts'

/** Language and look of antd's components. The first pages that visitors see do without, and so do not load it. */
export default function Antd({ children }: { readonly children: ReactNode }) {
  return (
    <ConfigProvider locale={zhCN} theme={theme}>
      {children}
    </ConfigProvider>
  )
}
