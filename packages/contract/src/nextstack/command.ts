import { z } from 'zod'
import { actsOn, byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, name, plainText } from '../validation.ts'
import { owned, reference } from '../resource.ts'

export const commandStatuses = ['queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'] as const
export type CommandStatus = (typeof commandStatuses)[number]

/** What became of a command in one instance. */
export const commandResult = z.object({
  vm: reference,
  status: z.enum(commandStatuses),
  /** Null until it ended, or where it never began. */
  exit_code: z.int().nullable(),
  /** In {@link commands.get} the last 8,192 characters each, which is what a page of fifty can show; in {@link commands.result} all that is kept. */
  stdout: z.string(),
  stderr: z.string(),
  /** More is kept than stands here. */
  more: z.boolean(),
  /** It printed more than is kept: the first 256 KiB each. */
  truncated: z.boolean(),
  error: z.string().nullable(),
  started_at: moment.nullable(),
  finished_at: moment.nullable(),
})
export type CommandResult = z.output<typeof commandResult>

/** A shell script that was run in several instances at once. */
export const command = z.object({
  ...owned,
  cloud_id: z.uuid(),
  /** In lists its first 1,000 characters. */
  script: z.string(),
  timeout_seconds: z.int(),
  /** `failed` where it failed in any. */
  status: z.enum(commandStatuses),
  vm_count: z.int(),
  succeeded_count: z.int(),
  failed_count: z.int(),
  finished_at: moment.nullable(),
})
export type Command = z.output<typeof command>

const base = '/api/nextstack/v1/commands'

export const commands = {
  list: defineCall({
    id: 'nextstack.command.list',
    method: 'GET',
    path: base,
    summary: 'Commands that were run in instances, newest first; kept for 90 days',
    access: tenants,
    query: listQuery(['created_at', 'name', 'status'], { cloud_id: z.uuid().optional(), status: z.enum(commandStatuses).optional(), keyword }),
    response: listOf(command),
  }),
  get: defineCall({
    id: 'nextstack.command.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One command, with what it printed in each instance',
    access: tenants,
    params: byId,
    response: command.extend({ results: z.array(commandResult) }),
  }),
  result: defineCall({
    id: 'nextstack.command.result',
    method: 'GET',
    path: `${base}/{id}/results/{vm_id}`,
    summary: 'All that it printed in one instance',
    access: tenants,
    params: byId.extend({ vm_id: z.uuid() }),
    response: commandResult,
  }),
  create: defineCall({
    id: 'nextstack.command.create',
    method: 'POST',
    path: base,
    summary: 'Run a shell script in several running instances at once, as root',
    also: ({ body }) => (body?.vm_ids ?? []).flatMap((id) => actsOn('nextstack.command.create', { kind: 'nextstack.vm', id })),
    access: tenants,
    status: 202,
    body: z.object({
      /** Left out: its first line, of which it is found by the program alone. */
      name: name.optional(),
      vm_ids: z.array(z.uuid()).min(1, fieldTexts.commandVms).max(50, fieldTexts.commandVms),
      /** Given to `sh` on its standard input. */
      script: z.string().min(1, fieldTexts.scriptRequired).max(65_536, fieldTexts.scriptTooLong).regex(plainText, fieldTexts.controlCharacters),
      timeout_seconds: z.int().min(1, fieldTexts.commandTimeout).max(3600, fieldTexts.commandTimeout).default(60),
    }),
    subjects: ({ vm_ids }) => vm_ids.map((id) => ({ kind: 'nextstack.vm', id })),
    response: command,
  }),
  cancel: defineCall({
    id: 'nextstack.command.cancel',
    method: 'POST',
    path: `${base}/{id}/cancel`,
    summary: 'Stop it where it still runs, and do not begin where it has not',
    access: tenants,
    params: byId,
    status: 202,
    response: command,
  }),
} as const
