import { i18n } from '../i18n.ts'

/**
 * Messages that arrive with the pages of their group. What every page needs (shell, kit, routes,
 * public) is in i18n.ts. A new group: one file in zh, its one-line twin in en, a line in each table here,
 * and a line in i18next.d.ts.
 */
const loaders = {
  zh: {
    nextstack: () => import('./zh/nextstack.ts'),
    content: () => import('./zh/content.ts'),
    help: () => import('./zh/help.ts'),
    account: () => import('./zh/account.ts'),
    overview: () => import('./zh/overview.ts'),
    licence: () => import('./zh/licence.ts'),
    clouds: () => import('./zh/clouds.ts'),
    public: () => import('./zh/public.ts'),
  },
  en: {
    nextstack: () => import('./en/nextstack.ts'),
    content: () => import('./en/content.ts'),
    help: () => import('./en/help.ts'),
    account: () => import('./en/account.ts'),
    overview: () => import('./en/overview.ts'),
    licence: () => import('./en/licence.ts'),
    clouds: () => import('./en/clouds.ts'),
    public: () => import('./en/public.ts'),
  },
} as const

export type LazyNamespace = keyof (typeof loaders)['zh']

export async function loadMessages(namespaces: readonly LazyNamespace[]): Promise<void> {
  const language = i18n.language === 'en' ? 'en' : 'zh'
  await Promise.all(
    namespaces
      .filter((namespace) => !i18n.hasResourceBundle(language, namespace))
      .map(async (namespace) => {
        const messages = await loaders[language][namespace]()
        i18n.addResourceBundle(language, namespace, messages.default)
      }),
  )
}
