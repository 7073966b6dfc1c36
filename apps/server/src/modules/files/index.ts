import type { MachineKind } from '@zhisuan/contract/files/machine'
import { z } from 'zod'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import { createFileDownloads } from './files.download.ts'
import { filesRoutes } from './files.routes.ts'
import { createFiles } from './files.service.ts'
import { fileMigrations, tellUsage, toldTo } from './files.store.ts'
import type { Machines } from './machine/machine.ts'
import { createMachineCopies } from './machine/machine.service.ts'
import { machineMigrations } from './machine/machine.store.ts'
import { createShareUses } from './share.uses.ts'
import { createShares, type Passwords } from './shares.ts'
import { createTransfers, type Transfers } from './transfers.ts'
import { createFileUploads } from './uploads.ts'

/** Tells billing what is kept: exported for tests, which do not wait for the clock. */
export const usageJob = defineJob({ name: 'files.usage.tell', input: z.object({}), concurrency: 1, schedule: '*/5 * * * *' })
const purgeJob = defineJob({ name: 'files.bin.purge', input: z.object({}), concurrency: 1, schedule: '17 * * * *' })

/** Spaces of people and organisations, and the public one: what they keep, how it comes and goes. */
export function createFilesModule(
  platform: Platform,
  { bytes, passwords, machines }: { bytes: Bytes; passwords: Passwords; machines: Readonly<Record<MachineKind, Machines>> },
): ModuleParts & { /** Records of what goes in and out, for whoever else keeps bytes of people. */ transfers: Transfers } {
  const transfers = createTransfers(platform)
  const files = createFiles(platform, { bytes, transfers })
  const uploads = createFileUploads(platform, { bytes, files, transfers })
  const uses = createShareUses(platform)
  const downloads = createFileDownloads(platform, { bytes, transfers, uses })
  const shares = createShares(platform, { passwords, downloads })
  const copies = createMachineCopies(platform, { bytes, files, transfers, machines })
  return {
    transfers,
    migrations: { ...fileMigrations, ...machineMigrations },
    kinds: { 'files.space': {}, 'files.entry': { table: 'file_entries', toldTo }, 'files.transfer': { table: 'file_transfers' } },
    handlers: filesRoutes({ files, uploads, downloads, shares, transfers, copies }),
    personDeleted: files.personDeleted,
    jobs: [purgeJob, usageJob, ...copies.jobs],
    jobHandlers: [
      ...copies.jobHandlers,
      handleJob(usageJob, () => tellUsage(platform.db)),
      handleJob(purgeJob, async (_, { signal }) => {
        await files.purgeEnded(signal)
        await transfers.forgetRunning()
        await uses.forget()
        await downloads.forget()
      }),
    ],
    start: async () => copies.start(),
    stop: async () => copies.stop(),
    drain: copies.drain,
    serve: (http, authorising) => uploads.serve(http, authorising),
  }
}
