import type { ArrearsPolicy } from '@zhisuan/contract/bill/arrears'
import type { Call, Tags } from '@zhisuan/contract/define'
import type { Kind } from '@zhisuan/contract/kind'
import type { Offer } from '@zhisuan/contract/offer'
import type { FastifyInstance } from 'fastify'
import type { RawBuilder } from 'kysely'
import type { Actor, Scope } from './auth/actor.ts'
import type { Migrations, Sql, Tables, Tx } from './db/database.ts'
import type { Authorising } from './http/bind.ts'
import type { Changing } from './http/changing.ts'
import type { Handler } from './http/handler.ts'
import type { JobDefinition, JobHandler } from './jobs.ts'
import type { AnyOperation, MayBegin } from './operations.ts'

/**
 * All that a module tells: made by its `index.ts`, and one line in `app.ts`. Whoever needs something
 * of all of them asks `platform.modules`.
 */
export interface ModuleParts {
  readonly migrations?: Migrations
  readonly handlers: readonly Handler[]
  readonly jobs?: readonly JobDefinition[]
  readonly jobHandlers?: readonly JobHandler[]
  readonly operations?: readonly AnyOperation[]
  /** What may refuse to begin an operation of any module. */
  readonly mayBegin?: MayBegin
  /** Its kinds of things, each as the calls about it begin. */
  readonly kinds?: Readonly<Partial<Record<Kind, KindParts>>>
  /**
   * What calls do besides may be about what has no id, such as an image: to what each such name belongs (`ReadOwner`). Null where
   * there is nothing to ask about.
   */
  readonly named?: Readonly<Record<string, (on: Sql, name: string) => Promise<string | null | undefined>>>
  /** What it keeps in clouds, on nodes, and in projects. */
  readonly contentsOfCloud?: CloudContents
  readonly contentsOfNode?: NodeContents
  readonly contentsOfProject?: ProjectContents
  /** Before the agent of a node is sent away, in that transaction: refuses where it cannot be, and takes back what is not to outlast it. */
  readonly nodeLeaves?: (tx: Tx, node: LeavingNode) => Promise<void>
  /** Whether cards of a node are for what this module gives them to, and for nothing else. */
  readonly reservesCards?: (on: Sql, edgeId: string) => Promise<boolean>
  /** What it has for somebody, so that menus leave out what nothing is there for. */
  readonly offers?: (on: Sql, scope: Scope) => Promise<readonly Offer[]>
  /** Hosts and cores that the licence limits. */
  readonly usageOfLicence?: (on: Sql) => Promise<{ nodes: number; cores: number }>
  /** What an organisation has from its beginning, in the transaction that makes it. */
  readonly organisationMade?: (tx: Tx, bpId: string) => Promise<void>
  /** What of a person's alone goes with them, in the transaction that deletes them. */
  readonly personDeleted?: (tx: Tx, userId: string) => Promise<void>
  /** What a page is about that anybody may see, so that it shares well; null: nothing that this module knows of, or nothing for everybody. */
  readonly headOf?: (path: string) => Promise<PageHead | null>
  /** What is served beside calls: sockets, uploads, links; what changes something by `changing`, with its entry in the audit log. */
  readonly serve?: (http: FastifyInstance, authorising: Authorising, changing: Changing) => void | Promise<void>
  /** After the schema is in place and before requests: seeds, watchers. */
  readonly start?: () => Promise<void>
  /** Once the server listens, at that address. */
  readonly listening?: (url: string) => Promise<void>
  /** Hangs up what stays open beside what is in `platform.openStreams`, so that a stop does not wait for it. */
  readonly drain?: () => void
  /** Before the database closes. */
  readonly stop?: () => Promise<void>
}

/** What is said at the head of a page. */
export interface PageHead {
  readonly title: string
  readonly description: string
  /** What the platform is called. */
  readonly site: string
}

/** What is known of a kind of thing. */
export interface KindParts {
  /** Where its rows are, each with an `id` and a name: whoever tells of one has its name from there. */
  readonly table?: keyof Tables
  /** Column of what people call it, where that is not `name`. */
  readonly name?: string
  /** Of what is somebody's alone: whether its row is one whose name this person is told. Left out: all who see that there is one are. */
  readonly toldTo?: (userId: string | null) => RawBuilder<boolean>
  /** What somebody sees of one, by its name, where whose it is stands in no `bp_id` of its rows: undefined where they see none. */
  readonly seen?: (on: Sql, actor: Actor, id: string) => Promise<string | undefined>
  /** Whose page tells of it where it has none, and the column of that one's id: of an image that a node pulls the node. */
  readonly page?: { readonly kind: Kind; readonly id: string }
  /** To what of another kind it belongs, and its column of that one's id: a snapshot to an instance. */
  readonly partOf?: { readonly kind: Kind; readonly id: string }
  /** None of what the scope does not see. */
  readonly tags?: (scope: Scope, id: string) => Promise<Tags>
  /** Whether there is something of that name already. */
  readonly nameTaken?: NameTaken
  readonly suspendable?: Suspendable
  /** By which call work on it is cancelled: who may make it may do so wherever that work is shown. Left out: it is not cancelled, but deleted. */
  readonly cancelledBy?: Call
  /** Where it can be paid in advance. */
  readonly sold?: Sold
}

/** Whether an organisation has something of that name already; `bp_id` null is the platform itself. */
export type NameTaken = (on: Sql, bpId: string | null, name: string) => Promise<boolean>

/** What lives on clouds: counted before one goes, forgotten when it goes by force. */
export interface CloudContents {
  count(on: Sql, cloudIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Where something else than instances is left, for a removal that is not forced. @throws Refusal */
  refuseRemoval(tx: Tx, cloudId: string): Promise<void>
  forget(tx: Tx, cloudId: string): Promise<void>
}

/** What is kept on nodes. */
export interface LeavingNode {
  readonly id: string
  readonly name: string
  readonly online: boolean
  /** Who runs the platform wants it, and not whose it is. */
  readonly byPlatform: boolean
}
export interface NodeContents {
  /** How many containers of ours each of them has; nodes without any may be left out. */
  count(on: Sql, edgeIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Whose they are on one of them. */
  owners(on: Sql, edgeId: string): Promise<readonly { readonly bp_id: string | null; readonly count: number }[]>
}

/** How much of each kind belongs to a project. */
export type ProjectContents = (on: Sql, of: { bp_id: string; project_id: string }) => Promise<Readonly<Record<string, number>>>

/**
 * What a module lets a suspension do to its resources: what people may do to them, by the same
 * operations, as the platform.
 */
export interface Suspendable {
  /** The part of the policy that says whether a suspension stops it. */
  readonly stoppedBy: keyof ArrearsPolicy & ('stop_vms' | 'stop_containers')
  /** Of an organisation what runs, and what is about to (`passing`), which cannot be stopped yet. */
  running(on: Sql, bpId: string): Promise<readonly { id: string; name: string; passing: boolean }[]>
  /**
   * Begins to stop it, in the caller's transaction. Null where it does not run any more.
   * @param again it was asked to stop before, and did not
   * @throws Refusal where it cannot be done now
   */
  stop(tx: Tx, id: string, again: boolean): Promise<{ operation_id: string; detail: unknown } | null>
  /**
   * Begins to start what {@link Suspendable.stop} stopped. `running` where it runs already, `gone` where there is nothing to start.
   * @throws Refusal where it cannot be done now
   */
  start(tx: Tx, id: string, detail: unknown): Promise<{ operation_id: string } | 'running' | 'gone'>
}

/** A resource as far as an order has to know it. */
export interface SoldResource {
  id: string
  name: string
  /** Null: nobody's, so nobody pays. */
  bp_id: string | null
  /** All that it may use, running: quantities by `meter` or `meter/variant`. */
  usage: Readonly<Record<string, number>>
  state: 'coming' | 'there' | 'broken'
  /** What went wrong with one that is broken, for people. */
  error: string | null
}

/** A kind of resource that can be ordered, told by the module that makes it. */
export interface Sold {
  /** The call that makes it: what an order of a new one holds is its body. */
  readonly call: Call
  /**
   * Makes it as the call does, with all that holds there.
   * @param recorded in the transaction that makes it: where it throws, nothing was made
   */
  make(actor: Actor, body: unknown, recorded: (tx: Tx, made: readonly SoldResource[]) => Promise<void>): Promise<void>
  find(on: Sql, scope: Scope, id: string): Promise<SoldResource | undefined>
}
