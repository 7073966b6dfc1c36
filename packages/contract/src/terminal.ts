import { z } from 'zod'
import { problem } from './problem.ts'

/** Asks for a terminal. It outlives its connection for a minute: who comes back with the same id goes on where they were. */
export const terminalWish = z.object({
  columns: z.int().min(10).max(500).default(80),
  rows: z.int().min(4).max(300).default(24),
  terminal_id: z.uuid().optional(),
  /** Closes the terminal that is open already, instead of 409. */
  take_over: z.boolean().default(false),
})

export const terminalOpened = z.object({
  terminal_id: z.uuid(),
  /** Path of the websocket, with a ticket that works once and for 30 seconds. */
  socket_path: z.string(),
})

/**
 * Frames on the terminal's websocket. Binary frames are terminal bytes in both directions; text
 * frames are these, as JSON.
 */
export const terminalFromClient = z.discriminatedUnion('type', [
  z.object({ type: z.literal('resize'), columns: z.int().min(1).max(500), rows: z.int().min(1).max(300) }),
])
export const terminalFromServer = z.discriminatedUnion('type', [
  /** First frame. What follows, up to `replay_bytes`, was printed before. */
  z.object({ type: z.literal('ready'), replay_bytes: z.int() }),
  /** Last frame. With a problem where something else than its own end ended it. */
  z.object({ type: z.literal('exit'), exit_code: z.int().nullable(), problem: problem.optional() }),
])
