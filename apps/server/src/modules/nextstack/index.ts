import { vms as vmCalls } from '@zhisuan/contract/nextstack/vm'
import type { PersonOf } from '../../platform/auth/later.ts'
import type { Scope } from '../../platform/auth/actor.ts'
import { byteCounter } from '../../platform/bytes/bytes.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { CloudService } from '../cmp/cloud/cloud.service.ts'
import type { Machines } from '../files/machine/machine.ts'
import { catalogueRoutes } from './catalogue/catalogue.routes.ts'
import { createCatalogue } from './catalogue/catalogue.service.ts'
import { firstImageHandler, seedFirstImage, seedImageJob } from './catalogue/first-image.ts'
import { flavorRoutes } from './flavor/flavor.routes.ts'
import { commandRoutes } from './command/command.routes.ts'
import { createCommandRunner } from './command/command.runner.ts'
import { createCommands, pruneCommandsHandler, pruneCommandsJob } from './command/command.service.ts'
import { sealedCommandMigrations } from './command/command.seal.ts'
import { commandMigrations, forgetCommands } from './command/command.store.ts'
import { createFlavors } from './flavor/flavor.service.ts'
import { flavorMigrations } from './flavor/flavor.store.ts'
import { createFollower } from './follow/follow.ts'
import { gpuCounter, gpuMigrations } from './host/gpu.store.ts'
import { createHostObserver } from './host/host.observer.ts'
import { createHostOperations } from './host/host.operations.ts'
import { hostRoutes } from './host/host.routes.ts'
import { createHosts } from './host/host.service.ts'
import { forgetHosts, hostMigrations } from './host/host.store.ts'
import type { IsPriced } from './eip/eip.service.ts'
import { forgetImages, imageCounter, imageMigrations } from './image/image.store.ts'
import { createImaging } from './imaging.ts'
import { keyPairRoutes } from './key-pair/key-pair.routes.ts'
import { createKeyPairs, publicKeyOf } from './key-pair/key-pair.service.ts'
import { keyPairCounter, keyPairMigrations, namesOfKeys, personOfKey } from './key-pair/key-pair.store.ts'
import { usageMigrations } from './metering.ts'
import { createNetworking, networkingCounters, networkingMigrations } from './networking.ts'
import { overviewRoutes } from './overview/overview.routes.ts'
import { createOverview, sampleOverviewJob } from './overview/overview.service.ts'
import { overviewMigrations } from './overview/overview.store.ts'
import { quotaRoutes } from './quota/quota.routes.ts'
import { createQuotas, type QuotaService } from './quota/quota.service.ts'
import { quotaMigrations } from './quota/quota.store.ts'
import { sellsEips, sellsVms, sellsVolumes } from './selling.ts'
import { createSnapshotting, snapshottingMigrations } from './snapshotting.ts'
import { snapshotCounter } from './snapshot/snapshot.store.ts'
import { createStorage, forgetStorage, refuseWhileVolumes, storageCounters, storageMigrations } from './storage.ts'
import { terminalRoutes } from './terminal/terminal.routes.ts'
import { createTerminalService } from './terminal/terminal.service.ts'
import { createMetrics, type Metrics } from './vm/vm.metrics.ts'
import { createVmOperations } from './vm/vm.operations.ts'
import { createVmFiles } from './vm/vm.files.ts'
import { vmRoutes } from './vm/vm.routes.ts'
import { createVmService } from './vm/vm.service.ts'
import { consoleMigrations } from './vm/vm.console.ts'
import { countByCloud, forgetCloud, vmCounter, vmMigrations } from './vm/vm.store.ts'
import { createVmSuspension } from './vm/vm.suspension.ts'
import { createVmSync } from './vm/vm.sync.ts'
import { withVolumes } from './volume/volume.attachments.ts'
import { forgetNetworks } from './vpc/vpc.store.ts'

/** The nextStack cloud family: whole machines on LXD, Incus or the sandbox. */
export function createNextstack(
  platform: Platform,
  others: {
    clouds: CloudService
    licence: { assertValid(): Promise<void> | void }
    mayMake: (tx: Tx, bpId: string, what: 'costs' | 'free') => Promise<void>
    isPriced: IsPriced
    personOf: PersonOf
  },
): ModuleParts & {
  /** Keys of organisations, for clouds of the other family. */
  publicKeys: {
    publicKey: (scope: Scope, id: string) => Promise<string>
    names: (scope: Scope) => Promise<readonly { id: string; name: string }[]>
    /** Who registered a key in an organisation, by its SHA-256 fingerprint. */
    personOf: (bpId: string, fingerprint: string) => Promise<string | null>
  }
  /** What organisations may have, also of what other modules keep and count themselves. */
  quotas: Pick<QuotaService, 'limit' | 'mayGrow'>
  /** What files of spaces go to and come from. */
  machines: Machines
  /** What instances use now, by clouds. */
  usages: Metrics['newest']
} {
  const { clouds } = others
  const metrics = createMetrics(platform.now)
  const catalogue = createCatalogue(clouds, platform.db)
  const quotas = createQuotas({
    db: platform.db,
    mayMake: others.mayMake,
    counters: [vmCounter, keyPairCounter, gpuCounter, snapshotCounter, imageCounter, ...networkingCounters, ...storageCounters, byteCounter],
  })
  const networking = createNetworking(platform, { clouds, quotas, isPriced: others.isPriced })
  const storage = createStorage(platform, { clouds, quotas })
  const members = withVolumes(networking.members, storage.volumes.release)
  const operations = createVmOperations({ db: platform.db, clouds, members })
  const vms = createVmService(platform, { clouds, catalogue, operations, metrics, members, quotas, licence: others.licence })
  const snapshotting = createSnapshotting(platform, { clouds, quotas, vms, personOf: others.personOf })
  const imaging = createImaging(platform, { clouds, quotas, catalogue })
  const runner = createCommandRunner(platform, clouds)
  const commands = createCommands({ db: platform.db, secrets: platform.secrets, clouds, runner })
  const terminals = createTerminalService(platform, { vms })
  const files = createVmFiles({ db: platform.db, clouds })
  const instances = createVmSync({ db: platform.db, pause: platform.pause, metrics })
  const hostOperations = createHostOperations({ db: platform.db, clouds, instances })
  const hosts = createHosts(platform, { clouds, operations: hostOperations })
  const overview = createOverview(platform)
  const follower = createFollower({
    clouds,
    observers: [instances, networking.observer, ...storage.observers, snapshotting.observer, imaging.observer, createHostObserver(platform)],
    log: platform.log,
  })

  return {
    migrations: {
      ...quotaMigrations,
      ...flavorMigrations,
      ...vmMigrations,
      ...consoleMigrations,
      ...keyPairMigrations,
      ...commandMigrations,
      ...sealedCommandMigrations(platform.secrets),
      ...networkingMigrations,
      ...storageMigrations,
      ...hostMigrations,
      ...gpuMigrations,
      ...overviewMigrations,
      ...snapshottingMigrations,
      ...imageMigrations,
      ...usageMigrations,
    },
    publicKeys: {
      publicKey: (scope, id) => publicKeyOf(platform.db, scope, id),
      names: (scope) => namesOfKeys(platform.db, scope),
      personOf: (bpId, fingerprint) => personOfKey(platform.db, bpId, fingerprint),
    },
    kinds: {
      'nextstack.vm': {
        table: 'vms',
        suspendable: createVmSuspension(platform, { clouds, operations }),
        sold: sellsVms(vms),
        cancelledBy: vmCalls.cancelOperation,
      },
      'nextstack.snapshot': { table: 'vm_snapshots', partOf: { kind: 'nextstack.vm', id: 'vm_id' } },
      'nextstack.snapshotSchedule': { table: 'vm_snapshot_schedules', partOf: { kind: 'nextstack.vm', id: 'vm_id' } },
      'nextstack.command': {},
      'nextstack.image': { table: 'images' },
      'nextstack.vpc': { table: 'vpcs' },
      'nextstack.securityGroup': { table: 'security_groups' },
      'nextstack.nat': { table: 'nat_gateways' },
      'nextstack.eip': { table: 'eips', partOf: { kind: 'nextstack.vm', id: 'vm_id' }, sold: sellsEips(networking.eips) },
      'nextstack.volume': { table: 'volumes', partOf: { kind: 'nextstack.vm', id: 'vm_id' }, sold: sellsVolumes(storage.volumes) },
      'nextstack.volumeSnapshot': { table: 'volume_snapshots' },
      'nextstack.volumeBackup': { table: 'volume_backups' },
      'nextstack.storagePool': { table: 'storage_pools' },
      'nextstack.host': { table: 'hosts' },
    },
    quotas,
    machines: files.machines,
    usages: metrics.newest,
    contentsOfProject: quotas.used,
    contentsOfCloud: {
      count: countByCloud,
      refuseRemoval: refuseWhileVolumes,
      // Networks first: their rows keep those of instances from going.
      forget: async (tx, cloudId) => {
        await forgetCommands(tx, cloudId)
        await forgetNetworks(tx, cloudId)
        await forgetStorage(tx, cloudId)
        await forgetImages(tx, cloudId)
        await forgetCloud(tx, cloudId)
        await forgetHosts(tx, cloudId)
      },
    },
    drain: imaging.drain,
    serve: async (http, authorising) => {
      terminals.serve(http)
      await imaging.serveUploads(http, authorising)
    },
    handlers: [
      ...vmRoutes(vms, files),
      ...terminalRoutes(terminals),
      ...flavorRoutes(createFlavors(platform)),
      ...keyPairRoutes(createKeyPairs({ db: platform.db, quotas })),
      ...commandRoutes(commands),
      ...catalogueRoutes(catalogue),
      ...quotaRoutes(quotas),
      ...hostRoutes(hosts),
      ...overviewRoutes(overview),
      ...snapshotting.handlers,
      ...imaging.handlers,
      ...networking.handlers,
      ...storage.handlers,
    ],
    operations: [
      ...Object.values(operations),
      ...Object.values(hostOperations),
      ...snapshotting.operations,
      ...imaging.operations,
      ...networking.operations,
      ...storage.operations,
    ],
    jobs: [seedImageJob, imaging.job, pruneCommandsJob, sampleOverviewJob],
    jobHandlers: [firstImageHandler({ clouds, catalogue, log: platform.log }), imaging.jobHandler, pruneCommandsHandler(platform), overview.jobHandler],
    start: async () => {
      await imaging.start()
      await seedFirstImage(platform, clouds)
      await follower.start()
      // So that its history begins at once, and not at the next round minute.
      await overview.takeSample()
      await runner.start()
      snapshotting.runner.start()
    },
    stop: async () => {
      await snapshotting.runner.stop()
      await runner.stop()
      await follower.stop()
    },
  }
}
