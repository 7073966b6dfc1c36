import { z } from 'zod'
import { byId, defineCall, empty, moment, type Also } from '../define.ts'
import { plainMachinePath } from '../directory.ts'
import type { Kind } from '../kind.ts'
import { tenants } from '../roles.ts'
import { conflictWays, filesPath } from './file.ts'

/** What has files of its own that go from and to spaces. */
export const machineKinds = ['cis.container', 'nextstack.vm'] as const satisfies readonly Kind[]
export type MachineKind = (typeof machineKinds)[number]
/** The call by which one reads and writes files there oneself. */
const accessOf = { 'cis.container': 'cis.container.fileLink', 'nextstack.vm': 'nextstack.terminal.open' } as const satisfies Record<MachineKind, string>

export const machineCopyDirections = ['to_machine', 'from_machine'] as const
/** `waiting` and `running` go on by themselves, also after a server was killed. */
export const machineCopyStatuses = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const

/** That wait or go on, of one organisation. */
export const machineCopiesMost = 200
/** What has not moved for so long is ended. */
export const machineStallMinutes = 10

export const machineCopy = z.object({
  id: z.uuid(),
  direction: z.enum(machineCopyDirections),
  machine: z.object({ kind: z.enum(machineKinds), id: z.uuid(), name: z.string() }),
  /** The directory of the machine that it goes to, or what it brings from there. */
  path: z.string(),
  /** What it is called where it goes to; null until that is known. */
  name: z.string().nullable(),
  status: z.enum(machineCopyStatuses),
  /** Null until it is known how much there is. */
  total_bytes: z.number().nullable(),
  done_bytes: z.number(),
  /** Links and devices, which a space does not have. */
  skipped_count: z.int(),
  /** Why it failed. */
  error: z.string().nullable(),
  created_at: moment,
  ended_at: moment.nullable(),
})
export type MachineCopy = z.output<typeof machineCopy>

const machine = z.object({ kind: z.enum(machineKinds), id: z.uuid() })
const conflict = z.enum(conflictWays).default('refuse')
/** Whoever may not read and write there by themselves does not by this. */
const there = (of: z.output<typeof machine>): Also => ({ action: accessOf[of.kind], on: of })

export const machineCopies = {
  list: defineCall({
    id: 'files.machine.list',
    method: 'GET',
    path: `${filesPath}/machines/{kind}/{id}/copies`,
    summary: 'What one had brought from and to a machine: what goes on, and what ended since yesterday',
    access: tenants,
    params: byId.extend({ kind: z.enum(machineKinds) }),
    response: z.object({ items: z.array(machineCopy) }),
  }),
  toMachine: defineCall({
    id: 'files.machine.toMachine',
    method: 'POST',
    path: `${filesPath}/machine-copies/to`,
    summary: 'Copy a file or folder of a space into a directory of a machine. 97602 where its name is taken there',
    access: tenants,
    status: 201,
    perMinute: 120,
    subjects: ({ machine }) => [machine],
    also: ({ body }) =>
      body === undefined
        ? [{ action: 'files.entry.download' }]
        : [{ action: 'files.entry.download', on: { kind: 'files.entry', id: body.entry_id } }, there(body.machine)],
    body: z.object({ machine, path: plainMachinePath, entry_id: z.uuid(), conflict }),
    response: machineCopy,
  }),
  fromMachine: defineCall({
    id: 'files.machine.fromMachine',
    method: 'POST',
    path: `${filesPath}/machine-copies/from`,
    summary: 'Copy a file or directory of a machine into a folder of a space. It shows there once all of it has come. 97602 where its name is taken there',
    access: tenants,
    status: 201,
    perMinute: 120,
    subjects: ({ machine }) => [machine],
    also: ({ body }) =>
      body === undefined
        ? [{ action: 'files.space.upload' }]
        : [{ action: 'files.space.upload', on: { kind: 'files.space', id: body.space_id } }, there(body.machine)],
    body: z.object({ machine, path: plainMachinePath, space_id: z.uuid(), parent_id: z.uuid().nullable().default(null), conflict }),
    response: machineCopy,
  }),
  cancel: defineCall({
    id: 'files.machine.cancel',
    method: 'POST',
    path: `${filesPath}/machine-copies/{id}/cancel`,
    summary: 'Stop one of one’s own that goes on; what came of it is deleted',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const
