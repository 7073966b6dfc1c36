import { quotaKinds, quotaServices, type ProjectQuota, type QuotaKind, type QuotaService } from '@zhisuan/contract/compute/project'
import { errors, fillText } from '@zhisuan/contract/errors'
import { cloudQuotaTexts, type CloudQuota } from '@zhisuan/contract/texts'
import { EngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { Refusal } from '../../../platform/errors.ts'

type Kinds = ProjectQuota['kinds']

/** What Nova, Cinder and Neutron call each kind, and how many of ours one of theirs is. */
export const cloudKinds: Readonly<Record<QuotaKind, { readonly name: CloudQuota; readonly unit?: number; readonly unitName?: string }>> = {
  instances: { name: 'instances' },
  cores: { name: 'cores' },
  memory_bytes: { name: 'ram', unit: 2 ** 20, unitName: 'MB' },
  server_groups: { name: 'server_groups' },
  volumes: { name: 'volumes' },
  volume_bytes: { name: 'gigabytes', unit: 2 ** 30, unitName: 'GB' },
  snapshots: { name: 'snapshots' },
  backups: { name: 'backups' },
  backup_bytes: { name: 'backup_gigabytes', unit: 2 ** 30, unitName: 'GB' },
  networks: { name: 'network' },
  subnets: { name: 'subnet' },
  ports: { name: 'port' },
  routers: { name: 'router' },
  floating_ips: { name: 'floatingip' },
  security_groups: { name: 'security_group' },
  security_group_rules: { name: 'security_group_rule' },
}

export async function quotasOf(cloud: OpenStack, service: QuotaService, id: string): Promise<Kinds> {
  const told = await cloud[service].quotas.get(id)
  return Object.fromEntries(
    quotaKinds[service].flatMap((kind) => {
      const { name, unit = 1 } = cloudKinds[kind]
      const known = told[name]
      return known === undefined ? [] : [[kind, { limit: known.limit === null ? null : known.limit * unit, used: known.used * unit }]]
    }),
  )
}

/** In the unit that the cloud counts in, as people read it. */
export const amountOf = (kind: QuotaKind, amount: number): string => {
  const { unit = 1, unitName } = cloudKinds[kind]
  return unitName === undefined ? String(amount) : `${Math.ceil(amount / unit)} ${unitName}`
}

/**
 * Before something is begun of which a cloud finds out only later, or for each on its own, that it does not fit. What
 * cannot be read is left to the cloud.
 * @param cloud as its administrator: not every service tells members what they use
 * @throws Refusal `computeQuotaShort` at the field of each kind that does not suffice
 */
export async function refuseBeyondQuota(
  cloud: OpenStack,
  keystoneId: string,
  wants: Partial<Record<QuotaKind, number>>,
  fieldOf: (kind: QuotaKind) => string,
): Promise<void> {
  const parts = await Promise.all(
    quotaServices.map(async (service): Promise<Kinds> => {
      if (!quotaKinds[service].some((kind) => (wants[kind] ?? 0) > 0)) return {}
      try {
        return await quotasOf(cloud, service, keystoneId)
      } catch (error) {
        if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
        return {}
      }
    }),
  )
  const kinds: Kinds = Object.assign({}, ...parts)
  const short = quotaServices
    .flatMap((service): readonly QuotaKind[] => quotaKinds[service])
    .flatMap((kind) => {
      const [want, known] = [wants[kind] ?? 0, kinds[kind]]
      if (want <= 0 || known === undefined || known.limit === null || known.used + want <= known.limit) return []
      const left = amountOf(kind, Math.max(0, known.limit - known.used))
      return [{ field: fieldOf(kind), values: { quota: cloudQuotaTexts[cloudKinds[kind].name], left, wants: amountOf(kind, want) } }]
    })
  if (short[0] === undefined) return
  throw new Refusal('computeQuotaShort', {
    values: short[0].values,
    fields: short.map(({ field, values }) => ({ field, message: fillText(errors.computeQuotaShort.text, values) })),
  })
}
