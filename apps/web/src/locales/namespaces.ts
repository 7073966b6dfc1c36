import kit from './zh/kit.ts'
import routes from './zh/routes.ts'
import shell from './zh/shell.ts'

/** Messages that come with the first script, since every page needs them. */
export const present = { shell, kit, routes }

/**
 * Messages that come with the pages that use them. A new namespace is its file in `zh` and its line here: what can be loaded and which
 * keys there are follow from it.
 */
export const loaders = {
  account: () => import('./zh/account.ts'),
  action: () => import('./zh/action.ts'),
  application: () => import('./zh/application.ts'),
  arrears: () => import('./zh/arrears.ts'),
  catalogue: () => import('./zh/catalogue.ts'),
  clouds: () => import('./zh/clouds.ts'),
  compute: () => import('./zh/compute.ts'),
  computeFirewall: () => import('./zh/computeFirewall.ts'),
  computeFlavor: () => import('./zh/computeFlavor.ts'),
  computeFloatingIp: () => import('./zh/computeFloatingIp.ts'),
  computeImage: () => import('./zh/computeImage.ts'),
  computeInstance: () => import('./zh/computeInstance.ts'),
  computeNetwork: () => import('./zh/computeNetwork.ts'),
  computeSecurity: () => import('./zh/computeSecurity.ts'),
  computeStorage: () => import('./zh/computeStorage.ts'),
  computeTenancy: () => import('./zh/computeTenancy.ts'),
  container: () => import('./zh/container.ts'),
  content: () => import('./zh/content.ts'),
  edge: () => import('./zh/edge.ts'),
  files: () => import('./zh/files.ts'),
  fund: () => import('./zh/fund.ts'),
  hardware: () => import('./zh/hardware.ts'),
  help: () => import('./zh/help.ts'),
  iam: () => import('./zh/iam.ts'),
  image: () => import('./zh/image.ts'),
  identity: () => import('./zh/identity.ts'),
  licence: () => import('./zh/licence.ts'),
  message: () => import('./zh/message.ts'),
  mirror: () => import('./zh/mirror.ts'),
  market: () => import('./zh/market.ts'),
  models: () => import('./zh/models.ts'),
  network: () => import('./zh/network.ts'),
  nextstack: () => import('./zh/nextstack.ts'),
  nextstackCompute: () => import('./zh/nextstackCompute.ts'),
  middleware: () => import('./zh/middleware.ts'),
  operations: () => import('./zh/operations.ts'),
  order: () => import('./zh/order.ts'),
  overview: () => import('./zh/overview.ts'),
  price: () => import('./zh/price.ts'),
  public: () => import('./zh/public.ts'),
  report: () => import('./zh/report.ts'),
  settings: () => import('./zh/settings.ts'),
  snapshot: () => import('./zh/snapshot.ts'),
  storage: () => import('./zh/storage.ts'),
  split: () => import('./zh/split.ts'),
  task: () => import('./zh/task.ts'),
  ticket: () => import('./zh/ticket.ts'),
} as const

export type LazyNamespace = keyof typeof loaders

type Lazy = { readonly [N in LazyNamespace]: Awaited<ReturnType<(typeof loaders)[N]>>['default'] }

// Keys are checked by the compiler: a message that is not in zh is a type error.
declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'shell'
    returnNull: false
    resources: typeof present & Lazy
  }
}
