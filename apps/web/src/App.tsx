import { QueryClientProvider } from '@tanstack/react-query'
import ConfigProvider from 'antd/es/config-provider'
import zhCN from 'antd/es/locale/zh_CN'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { queryClient } from './api/queryClient.ts'
import { Root } from './layout/Root.tsx'
import { routerPath, routes } from './routes.ts'
import { theme } from './theme.ts'

/**
 * The router only names the parameters: Root decides by the table what is shown. Paths are
 * case-sensitive, as they are specified.
 */
const router = createBrowserRouter([
  {
    Component: Root,
    children: [...routes.map(({ path }) => ({ path: routerPath(path), element: null, caseSensitive: true })), { path: '*', element: null }],
  },
])

export function App() {
  return (
    <ConfigProvider locale={zhCN} theme={theme}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </ConfigProvider>
  )
}
