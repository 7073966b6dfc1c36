import type { Readable } from 'node:stream'
import type { Scope } from '../../../platform/auth/actor.ts'

/** What is at a path of a machine, behind whatever links lead to it. */
export interface MachinePlace {
  readonly path: string
  readonly kind: 'file' | 'folder' | 'other'
  readonly size_bytes: number
}

/** A file or folder as it comes from a machine. */
export type MachineItem =
  | { readonly kind: 'folder'; readonly path: string }
  /** Its content is read to its end, or destroyed, before the next item is asked for. */
  | { readonly kind: 'file'; readonly path: string; readonly size_bytes: number; readonly content: Readable }
  /** The same file under one more name. */
  | { readonly kind: 'same'; readonly path: string; readonly as: string }
  /** A link, a device, a socket: what no space has. */
  | { readonly kind: 'other'; readonly path: string }

/** A file or folder on its way to a machine. */
export interface SentItem {
  /** Below what is sent; of that itself empty. */
  readonly path: string
  /** Null: a folder. */
  readonly file: { readonly size_bytes: number; readonly open: () => Promise<Readable> } | null
}

/** Where something goes, what it is called there, and what it is called until it is whole. */
export interface MachineTarget {
  readonly directory: string
  readonly name: string
  readonly part: string
  /** What tries before called it, of which nothing stays; this one's too, since it begins again where the line breaks. */
  readonly left: readonly string[]
}

/** Something that has files of its own, such as a container. Paths never get into a shell. */
export interface Machine {
  readonly name: string
  /** Null where nothing is. */
  stat(path: string): Promise<MachinePlace | null>
  /** All that is at a path, as `MachinePlace` has it: itself first, under the empty path, then what is below. */
  read(path: string, signal: AbortSignal): AsyncIterable<MachineItem>
  /**
   * Puts a file or folder there whole, in place of a file of that name. Before it has come whole it is called otherwise,
   * wherever something runs that can call it by its name then.
   */
  write(to: MachineTarget, items: readonly SentItem[], signal: AbortSignal): Promise<void>
}

/** Machines of one kind; each module that has some offers this. */
export interface Machines {
  /** @throws Refusal `notFound` where the scope does not show it, and what else keeps one from its files now */
  reach(scope: Scope, id: string): Promise<Machine>
  /** Long work, for what was allowed before: waits for the machine, and begins again where the line to it breaks. */
  work<T>(id: string, signal: AbortSignal, act: (machine: Machine) => Promise<T>): Promise<T>
}
