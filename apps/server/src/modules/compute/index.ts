import { createOutboundGuard } from '../../platform/outbound/guard.ts'
import { createAudit } from '../../platform/audit.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { MayBegin } from '../../platform/operations.ts'
import type { CloudContents, ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { CloudService } from '../cmp/cloud/cloud.service.ts'
import type { Tell } from '../sys/message/message.service.ts'
import { firewallRoutes } from './firewall/firewall.routes.ts'
import { createFirewalls } from './firewall/firewall.service.ts'
import { flavorRoutes } from './flavor/flavor.routes.ts'
import { createFlavors } from './flavor/flavor.service.ts'
import { floatingIpRoutes } from './floating-ip/floating-ip.routes.ts'
import { createFloatingIps } from './floating-ip/floating-ip.service.ts'
import { imageRoutes } from './image/image.routes.ts'
import { createImages } from './image/image.service.ts'
import { createImageUploads } from './image/image.uploads.ts'
import type { PublicKeys } from './instance/instance.ground.ts'
import { instanceRoutes } from './instance/instance.routes.ts'
import { createKeySweep } from './instance/instance.keys.ts'
import { createInstances } from './instance/instance.service.ts'
import { createSerialConsoles } from './instance/serial.service.ts'
import { createUsageLooks } from './metering/metering.service.ts'
import { computeMeteringMigrations, forgetCloudUsage } from './metering/metering.store.ts'
import { createRecycleOperations } from './recycle/recycle.operations.ts'
import { recycleRoutes } from './recycle/recycle.routes.ts'
import { createRecycleBin } from './recycle/recycle.service.ts'
import { forgetRecycled, recycleMigrations } from './recycle/recycle.store.ts'
import { securityGroupRoutes } from './security-group/security-group.routes.ts'
import { createSecurityGroups } from './security-group/security-group.service.ts'
import { keystoneProjectRoutes } from './tenancy/project.routes.ts'
import { createKeystoneProjects } from './tenancy/project.service.ts'
import { networkRoutes } from './network/network.routes.ts'
import { createNetworks } from './network/network.service.ts'
import { createPorts } from './network/port.service.ts'
import { createSubnets } from './network/subnet.service.ts'
import { createRouters } from './network/router.service.ts'
import { createRefuseWhileSuspended, refusedWhileSuspended } from './suspended.ts'
import { createTenancy } from './tenancy/tenancy.service.ts'
import { forgetKeystoneProjects, tenancyMigrations } from './tenancy/tenancy.store.ts'
import { createInstanceSuspension } from './suspension/instance.suspension.ts'
import { storageRoutes } from './volume/volume.routes.ts'

/** Of what is on a cloud of this family only rows of ours go with it: all else stays its own. */
const contentsOfCloud: CloudContents = {
  count: async () => new Map(),
  refuseRemoval: async () => undefined,
  async forget(tx, cloudId) {
    await forgetCloudUsage(tx, cloudId)
    await forgetRecycled(tx, cloudId)
    await forgetKeystoneProjects(tx, cloudId)
  },
}

/** The second cloud family: any OpenStack. The cloud is the record; here is only what it does not know. */
export function createCompute(
  platform: Platform,
  others: {
    clouds: CloudService
    tell: Tell
    mayMake: (tx: Tx, bpId: string, what: 'costs' | 'free') => Promise<void>
    mayBegin: MayBegin
    publicKeys: PublicKeys
  },
): ModuleParts {
  const tenancy = createTenancy({ ...platform, ...others })
  const { publicKeys } = others
  const { config } = platform
  const recycling = createRecycleOperations({ db: platform.db, tenancy })
  const keys = createKeySweep({ ...platform, ...others })
  const usage = createUsageLooks({ ...platform, ...others })
  const suspension = createInstanceSuspension(platform, { tenancy, usage })
  const bin = createRecycleBin(platform, { tenancy, operations: recycling })
  const images = createImages(platform, { tenancy, guard: createOutboundGuard({ allow: config.IMAGE_FETCH_ALLOW, publicUrl: config.PUBLIC_URL }) })
  const serialConsoles = createSerialConsoles(platform, { tenancy })
  const refuseWhileSuspended = createRefuseWhileSuspended(platform, others.mayBegin)
  const uploads = createImageUploads({ images, refuseWhileSuspended, audit: createAudit(platform.db), maxBytes: config.IMAGE_MAX_GB * 2 ** 30 })
  return {
    migrations: { ...tenancyMigrations, ...recycleMigrations, ...computeMeteringMigrations },
    contentsOfCloud,
    serve: async (http, authorising) => {
      serialConsoles.serve(http)
      await uploads.serve(http, authorising)
    },
    drain: uploads.drain,
    kinds: { 'compute.instance': { suspendable: suspension.suspendable }, 'compute.recycled': {} },
    operations: [...recycling.definitions, ...suspension.operations],
    jobs: [bin.job, usage.job, keys.job],
    jobHandlers: [bin.jobHandler, usage.jobHandler, keys.jobHandler],
    stop: usage.stop,
    handlers: [
      ...instanceRoutes(createInstances({ ...platform, tenancy, publicKeys }), serialConsoles),
      ...recycleRoutes(bin),
      ...flavorRoutes(createFlavors(tenancy)),
      ...storageRoutes(platform.db, tenancy),
      ...imageRoutes(images),
      ...keystoneProjectRoutes(createKeystoneProjects({ ...platform, ...others, tenancy })),
      ...floatingIpRoutes(createFloatingIps({ db: platform.db, tenancy })),
      ...securityGroupRoutes(createSecurityGroups({ db: platform.db, tenancy })),
      ...networkRoutes({ networks: createNetworks(tenancy), subnets: createSubnets(tenancy), ports: createPorts(tenancy), routers: createRouters(tenancy) }),
      ...firewallRoutes(createFirewalls({ db: platform.db, tenancy })),
    ]
      .map(refusedWhileSuspended(refuseWhileSuspended))
      .map(usage.afterChange),
  }
}
