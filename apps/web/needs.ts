import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A page, and by which modules it begins: paths of files. */
export interface NeededPage {
  readonly path: string
  /** Of its address. */
  readonly pattern: RegExp
  /** Whether only who has signed in sees it. */
  readonly inside: boolean
  /** What is drawn around it. */
  readonly frame: readonly string[]
  /** Itself, and its messages. */
  readonly own: readonly string[]
}

type Pages = Readonly<Record<string, { readonly load: () => unknown; readonly messages: readonly string[] }>>

/** All pages that are built, in the order of the table of routes. */
export async function neededPages(root: string): Promise<readonly NeededPage[]> {
  // By an address that is made here: what is written out would become part of the configuration, and all pages with it.
  const source = <Module>(file: string): Promise<Module> => import(pathToFileURL(join(root, 'src', file)).href) as Promise<Module>
  const { routes } = await source<{ readonly routes: readonly { readonly path: string; readonly access: unknown; readonly plain?: true }[] }>('routes.ts')
  const { patternOf } = await source<{ readonly patternOf: (path: string) => RegExp }>('layout/routeAt.ts')
  const { visitorPages } = await source<{ readonly visitorPages: Pages }>('visitorPages.ts')
  const { pages } = await source<{ readonly pages: Pages }>('pages.ts')
  const all: Pages = { ...visitorPages, ...pages }
  const inSource = (files: readonly string[]): readonly string[] => files.map((file) => join(root, 'src', file))
  return routes.flatMap((route): NeededPage[] => {
    const page = all[route.path]
    if (page === undefined) return []
    const inside = route.access !== 'public'
    const own = [...page.load.toString().matchAll(/import\('\.\/([^']+)'\)/g)].map(([, module = '']) => module)
    const frame = inside ? ['layout/ConsoleLayout.tsx', 'kit/Antd.tsx', 'pages.ts'] : route.plain === true ? [] : ['kit/Antd.tsx']
    const messages = page.messages.map((name) => `locales/zh/${name}.ts`)
    return [{ path: route.path, pattern: patternOf(route.path), inside, frame: inSource(frame), own: inSource([...own, ...messages]) }]
  })
}
