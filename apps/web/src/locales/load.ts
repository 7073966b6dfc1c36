import { i18n } from '../i18n.ts'

/**
 * Messages that arrive with the pages of their group. What every page needs (shell, kit, routes,
 * public) is in i18n.ts. A new group: one file in zh, its one-line twin in en, a line in each table here,
 * and a line in i18next.d.ts.
 */
const loaders = {
  zh: {
    nextstack: () => import('./zh/nextstack.ts'),
    nextstackCompute: () => import('./zh/nextstackCompute.ts'),
    compute: () => import('./zh/compute.ts'),
    computeFirewall: () => import('./zh/computeFirewall.ts'),
    computeFlavor: () => import('./zh/computeFlavor.ts'),
    computeImage: () => import('./zh/computeImage.ts'),
    computeInstance: () => import('./zh/computeInstance.ts'),
    computeNetwork: () => import('./zh/computeNetwork.ts'),
    computeFloatingIp: () => import('./zh/computeFloatingIp.ts'),
    computeSecurity: () => import('./zh/computeSecurity.ts'),
    computeStorage: () => import('./zh/computeStorage.ts'),
    computeTenancy: () => import('./zh/computeTenancy.ts'),
    network: () => import('./zh/network.ts'),
    edge: () => import('./zh/edge.ts'),
    catalogue: () => import('./zh/catalogue.ts'),
    container: () => import('./zh/container.ts'),
    application: () => import('./zh/application.ts'),
    snapshot: () => import('./zh/snapshot.ts'),
    storage: () => import('./zh/storage.ts'),
    order: () => import('./zh/order.ts'),
    image: () => import('./zh/image.ts'),
    hardware: () => import('./zh/hardware.ts'),
    content: () => import('./zh/content.ts'),
    help: () => import('./zh/help.ts'),
    account: () => import('./zh/account.ts'),
    overview: () => import('./zh/overview.ts'),
    fund: () => import('./zh/fund.ts'),
    licence: () => import('./zh/licence.ts'),
    clouds: () => import('./zh/clouds.ts'),
    settings: () => import('./zh/settings.ts'),
    arrears: () => import('./zh/arrears.ts'),
    iam: () => import('./zh/iam.ts'),
    keeping: () => import('./zh/keeping.ts'),
    public: () => import('./zh/public.ts'),
    report: () => import('./zh/report.ts'),
  },
  en: {
    nextstack: () => import('./en/nextstack.ts'),
    nextstackCompute: () => import('./en/nextstackCompute.ts'),
    compute: () => import('./en/compute.ts'),
    computeFirewall: () => import('./en/computeFirewall.ts'),
    computeFlavor: () => import('./en/computeFlavor.ts'),
    computeImage: () => import('./en/computeImage.ts'),
    computeInstance: () => import('./en/computeInstance.ts'),
    computeNetwork: () => import('./en/computeNetwork.ts'),
    computeFloatingIp: () => import('./en/computeFloatingIp.ts'),
    computeSecurity: () => import('./en/computeSecurity.ts'),
    computeStorage: () => import('./en/computeStorage.ts'),
    computeTenancy: () => import('./en/computeTenancy.ts'),
    network: () => import('./en/network.ts'),
    edge: () => import('./en/edge.ts'),
    catalogue: () => import('./en/catalogue.ts'),
    container: () => import('./en/container.ts'),
    application: () => import('./en/application.ts'),
    snapshot: () => import('./en/snapshot.ts'),
    storage: () => import('./en/storage.ts'),
    order: () => import('./en/order.ts'),
    image: () => import('./en/image.ts'),
    hardware: () => import('./en/hardware.ts'),
    content: () => import('./en/content.ts'),
    help: () => import('./en/help.ts'),
    account: () => import('./en/account.ts'),
    overview: () => import('./en/overview.ts'),
    fund: () => import('./en/fund.ts'),
    licence: () => import('./en/licence.ts'),
    clouds: () => import('./en/clouds.ts'),
    settings: () => import('./en/settings.ts'),
    arrears: () => import('./en/arrears.ts'),
    iam: () => import('./en/iam.ts'),
    keeping: () => import('./en/keeping.ts'),
    public: () => import('./en/public.ts'),
    report: () => import('./en/report.ts'),
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
