import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Command, CommandResult, commands } from '@zhisuan/contract/nextstack/command'
import { vmCan, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import { z } from 'zod'
import { authoredBy, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob, type JobHandler } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { CommandRunner } from './command.runner.ts'
import * as store from './command.store.ts'
import type { CommandResultRow, ShownCommand } from './command.store.ts'

type Calls = typeof commands

export type CommandService = ReturnType<typeof createCommands>

/** How long commands are kept. */
const keptMs = 90 * 24 * 3600_000

/** Once a night, in China as in UTC. */
export const pruneCommandsJob = defineJob({ name: 'nextstack.command.prune', input: z.object({}), concurrency: 1, schedule: '41 19 * * *' })

export const pruneCommandsHandler = ({ db, now }: Pick<Platform, 'db' | 'now'>): JobHandler =>
  handleJob(pruneCommandsJob, async (_, { signal }) => {
    while (!signal.aborted && (await store.deleteBefore(db, new Date(now().getTime() - keptMs))) > 0);
  })

export function createCommands(parts: Pick<Platform, 'db' | 'secrets'> & { clouds: Pick<CloudService, 'forReading'>; runner: CommandRunner }) {
  const { db, secrets, clouds, runner } = parts

  const get = async (actor: Actor, id: string): Promise<ShownCommand> => found(await store.getCommand(db, secrets, scopeOf(actor), id))

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listCommands(db, secrets, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const command = await get(actor, id)
      return { ...shape(command), results: (await store.listResults(db, secrets, id)).map((row) => shapeResult(row, row.more)) }
    },

    async result(actor: Actor, id: string, vmId: string): Promise<CommandResult> {
      await get(actor, id)
      return shapeResult(found(await store.getResult(db, secrets, { command_id: id, vm_id: vmId })), false)
    },

    /** All of the instances have to run, or it begins in none. */
    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<Command> {
      const ids = [...new Set(body.vm_ids)]
      const known = new Map((await store.vmsFor(db, scopeOf(actor), ids)).map((vm) => [vm.id, vm]))
      const vms = ids.map((id) => found(known.get(id)))
      const [cloudId = '', ...others] = new Set(vms.map(({ cloud_id }) => cloud_id))
      if (others.length > 0) throw new Refusal('commandCloudsDiffer', { field: 'vm_ids' })
      const idle = vms.find(({ status }) => !(vmCan.terminal as readonly VmStatus[]).includes(status))
      if (idle !== undefined) throw new Refusal('commandVmNotRunning', { field: 'vm_ids', values: { name: idle.name } })
      await clouds.forReading(cloudId)
      const id = uuidv7()
      // As editors on other systems end their lines, no shell reads them.
      const script = body.script.replaceAll('\r\n', '\n')
      await db.transaction().execute(async (tx) => {
        await store.insertCommand(
          tx,
          secrets,
          {
            id,
            cloud_id: cloudId,
            bp_id: actor.bp_id,
            name: body.name,
            script,
            timeout_seconds: body.timeout_seconds,
            vm_count: vms.length,
            ...authoredBy(actor),
          },
          vms,
        )
        await runner.queued(tx, cloudId)
      })
      return shape(await get(actor, id))
    },

    /** Once more of a cancelled one changes nothing. @throws Refusal 90017 */
    async cancel(actor: Actor, id: string): Promise<Command> {
      await db.transaction().execute(async (tx) => {
        const command = found(await store.lockCommand(tx, scopeOf(actor), id))
        if (command.finished_at !== null && !command.cancelled) throw new Refusal('operationEnded')
        if (command.finished_at !== null) return
        await store.cancelQueued(tx, id)
        await store.sumUp(tx, id)
        await runner.cancelled(tx, id)
      })
      return shape(await get(actor, id))
    },
  }
}

const shape = (row: ShownCommand): Command => ({
  id: row.id,
  name: row.name,
  description: '',
  cloud_id: row.cloud_id,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  script: row.script,
  timeout_seconds: row.timeout_seconds,
  status: row.status,
  vm_count: row.vm_count,
  succeeded_count: row.succeeded_count,
  failed_count: row.failed_count,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  finished_at: isoOrNull(row.finished_at),
})

const shapeResult = (row: CommandResultRow, more: boolean): CommandResult => ({
  vm: { id: row.vm_id, name: row.vm_name },
  status: row.status,
  exit_code: row.exit_code,
  stdout: row.stdout,
  stderr: row.stderr,
  more,
  truncated: row.truncated,
  error: row.error_text,
  started_at: isoOrNull(row.started_at),
  finished_at: isoOrNull(row.finished_at),
})
