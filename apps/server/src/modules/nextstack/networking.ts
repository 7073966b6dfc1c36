import type { Migrations } from '../../platform/db/database.ts'
import type { Handler } from '../../platform/http/handler.ts'
import type { AnyOperation } from '../../platform/operations.ts'
import type { Platform } from '../../platform/platform.ts'
import type { CloudService } from '../cmp/cloud/cloud.service.ts'
import { createEipPoolService } from './eip/eip-pool.service.ts'
import { eipPoolMigrations } from './eip/eip-pool.store.ts'
import { eipRoutes } from './eip/eip.routes.ts'
import { createEipService, type EipService, type IsPriced } from './eip/eip.service.ts'
import { eipCounter, eipMigrations } from './eip/eip.store.ts'
import type { Observer } from './follow/follow.ts'
import { natRoutes } from './nat/nat.routes.ts'
import { createNatService } from './nat/nat.service.ts'
import { natMigrations } from './nat/nat.store.ts'
import type { QuotaCounter, QuotaService } from './quota/quota.service.ts'
import { securityGroupRoutes } from './security-group/security-group.routes.ts'
import { createSecurityGroupService } from './security-group/security-group.service.ts'
import { securityGroupCounter, securityGroupMigrations } from './security-group/security-group.store.ts'
import { addressMigrations } from './vpc/address.store.ts'
import { createVpcMembers, type VpcMembers } from './vpc/vpc.members.ts'
import { createVpcObserver } from './vpc/vpc.observer.ts'
import { createVpcOperations } from './vpc/vpc.operations.ts'
import { vpcRoutes } from './vpc/vpc.routes.ts'
import { createVpcService } from './vpc/vpc.service.ts'
import { vpcCounter, vpcMigrations } from './vpc/vpc.store.ts'

export const networkingMigrations: Migrations = {
  ...securityGroupMigrations,
  ...vpcMigrations,
  ...addressMigrations,
  ...eipPoolMigrations,
  ...eipMigrations,
  ...natMigrations,
}
export const networkingCounters: readonly QuotaCounter[] = [vpcCounter, securityGroupCounter, eipCounter]

/** Private networks and what guards and leads into them: security groups, NAT gateways, outside addresses. */
export function createNetworking(
  platform: Pick<Platform, 'db' | 'operations' | 'pause'>,
  others: { clouds: CloudService; quotas: QuotaService; isPriced: IsPriced },
): {
  handlers: readonly Handler[]
  operations: readonly AnyOperation[]
  observer: Observer
  eips: EipService
  /** For instances. */
  members: VpcMembers
} {
  const { db } = platform
  const { apply, remove, want, wantGone } = createVpcOperations({ db, clouds: others.clouds, operations: platform.operations })
  const parts = { db, ...others, want }
  const eips = createEipService(parts)
  return {
    eips,
    handlers: [
      ...vpcRoutes(createVpcService({ ...parts, wantGone })),
      ...securityGroupRoutes(createSecurityGroupService(parts)),
      ...natRoutes(createNatService(parts)),
      ...eipRoutes(eips, createEipPoolService(parts)),
    ],
    operations: [apply, remove],
    observer: createVpcObserver(parts),
    members: createVpcMembers({ ...parts, pause: platform.pause }),
  }
}
