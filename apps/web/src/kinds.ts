import type { Kind } from '@zhisuan/contract/kind'
import { paths, withQuery } from './paths.ts'

interface Pages {
  readonly list: () => string
  readonly detail?: (id: string, name: string) => string
}

/** The pages of each kind of thing that has some: whoever leads to a thing by its kind does so by these. */
const pages = {
  'nextstack.vm': paths.nextstack.vm,
  'nextstack.snapshot': paths.nextstack.snap,
  'nextstack.image': paths.nextstack.privateImage,
  'nextstack.vpc': paths.nextstack.vpc,
  'nextstack.securityGroup': paths.nextstack.securityGroup,
  'nextstack.nat': paths.nextstack.nat,
  'nextstack.eip': paths.nextstack.eip,
  'nextstack.volume': paths.nextstack.volume,
  'nextstack.volumeSnapshot': paths.nextstack.volumeSnap,
  'nextstack.storagePool': paths.nextstack.storagePool,
  'nextstack.host': paths.nextstack.hypervisorNode,
  'compute.instance': paths.compute.instance,
  'compute.volume': paths.compute.volume,
  'compute.floatingIp': paths.compute.floatingIp,
  'compute.volumeSnapshot': paths.compute.snapshot,
  'compute.volumeBackup': paths.compute.backup,
  'compute.image': paths.compute.image,
  'ecrm.edge': paths.container.node,
  'cis.container': { list: paths.container.deployment.list, detail: paths.container.deployment.containerDetail },
  'aos.stack': { list: paths.container.application.list, detail: paths.container.application.services },
  'compute.project': { list: paths.compute.instance.list },
  'market.rental': paths.market.rental,
  'market.offer': { list: paths.market.list },
  'market.card': { list: () => withQuery(paths.market.provider(), { tab: 'cards' }) },
  'cmp.cloud': { list: paths.platform.clouds, detail: (id: string) => withQuery(paths.platform.clouds(), { cloud: id }) },
  'bill.account': { list: paths.billing.wallet },
  'bill.budget': { list: () => withQuery(paths.billing.month(), { tab: 'budgets' }) },
  'bill.order': paths.order,
  'split.run': { list: paths.split.providerRecords },
  'split.contract': paths.split.management,
  'split.payout': { list: () => withQuery(paths.split.providerRecords(), { tab: 'payouts' }) },
  'split.case': { list: () => withQuery(paths.split.record(), { tab: 'cases' }) },
  'split.channel': { list: paths.split.record },
  'split.bankDetail': { list: () => withQuery(paths.split.providerRecords(), { tab: 'bank' }) },
  'files.space': { list: paths.files.personal },
  'models.model': paths.warehouse,
  'middleware.gateway': paths.middleware.gateway,
  'middleware.service': { list: paths.middleware.service.list },
  'middleware.port': { list: paths.middleware.gateway.list },
  'omc.integration': { list: paths.operations.component.installations, detail: paths.operations.component.installation },
  'omc.prometheus': paths.operations.prometheus,
  'omc.alarm': paths.operations.alarm,
  'omc.alertLog': { list: paths.operations.alarmLogs },
  'omc.receiver': { list: paths.operations.alarm.list },
  'omc.alarmWindow': { list: paths.operations.alarm.list },
  'ticket.ticket': paths.ticket,
  'ticket.desk': paths.workOrder,
} as const satisfies Readonly<Partial<Record<Kind, Pages>>>

/**
 * Where a thing is looked at, or else those of its kind; null where neither has a page.
 * @param keeping where who asks keeps people: session/keeping.ts
 */
export function pageOf(
  kind: string,
  { id, name }: { readonly id: string; readonly name: string },
  keeping: typeof paths.iam | typeof paths.organisation = paths.iam,
): string | null {
  if (kind === 'ums.user') return keeping.user.detail(id)
  const found = (pages as Readonly<Record<string, Pages | undefined>>)[kind]
  return found === undefined ? null : (found.detail?.(id, name) ?? found.list())
}

/** The page that lists a kind. */
export const listOf = (kind: keyof typeof pages): string => pages[kind].list()
