import { QueryClientProvider } from '@tanstack/react-query'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { queryClient } from './api/queryClient.ts'
import { createPages, PagesContext } from './layout/pages.ts'
import { Root } from './layout/Root.tsx'
import { pages } from './pages.ts'
import { routerPath, routes } from './routes.ts'

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

const given = createPages(pages)

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <PagesContext value={given}>
        <RouterProvider router={router} />
      </PagesContext>
    </QueryClientProvider>
  )
}
