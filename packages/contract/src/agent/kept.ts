import { z } from 'zod'

/**
 * What the platform runs on a node for itself, kept by the node's agent: one shape, whatever program it is. The server says
 * what is wanted; what is there the agent looks up whenever it is asked. All paths are of the agent, through the tunnel.
 *
 *   wanted → preflight → placed → applied (started) → healthy
 *
 * `placed` lies beside what runs and changes nothing; `apply` puts it in its place, and takes it back where it does not
 * become healthy in time. All orders are idempotent: the same once more joins what is under way, or changes nothing.
 */
export const keptPaths = {
  /** `GET` {@link keptList}. */
  all: '/v1/kept',
  /** `POST` {@link keptOrder}, answers {@link keptPreflight}; changes nothing. */
  preflight: (id: string) => `/v1/kept/${id}/preflight`,
  /** `GET` {@link keptState}; `PUT` {@link keptOrder}: begins to place it, answers {@link keptState}; `DELETE` `?data=true|false`: begins to take it away, answers {@link keptState}, and 404 once it is gone. */
  one: (id: string) => `/v1/kept/${id}`,
  /** `POST` {@link keptAction}: begins it, answers {@link keptState}. */
  action: (id: string) => `/v1/kept/${id}/action`,
  /** `GET` `?tail=&follow=`: `text/plain`, the last lines of what it said, and what it says from then on. */
  log: (id: string) => `/v1/kept/${id}/log`,
} as const

/** Also the name of its folder and a part of names that operators see. */
export const keptId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/)

const line = z
  .string()
  .max(4_096)
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'not a text')
/** Below a folder of its own: no way out of it, no empty part. */
const relativePath = z
  .string()
  .max(255)
  .regex(/^(?!\/)(?!.*\/\/)(?!.*(^|\/)\.{1,2}(\/|$))[A-Za-z0-9._/-]+(?<!\/)$/)
const absolutePath = z
  .string()
  .max(1_024)
  .regex(/^\/(?!.*\/\/)(?!.*\/\.{1,2}(\/|$))[A-Za-z0-9._/-]+(?<!\/)$/)
const port = z.int().min(1).max(65_535)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const signal = z.enum(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'])
const milliseconds = z.int().min(0).max(3_600_000)
/** As useradd(8) takes it. */
const userName = z.string().regex(/^[a-z_][a-z0-9_-]{0,31}$/)

/** Of a program that lies on the node: a name that is looked for in the usual folders, or a path. */
const programName = z.union([z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/), absolutePath])

/**
 * Which program. What it is asked for its version answers with the wanted one somewhere in it, or the preflight (of one
 * that lies there) or the placing (of one that is fetched) refuses it.
 */
const program = z.discriminatedUnion('kind', [
  /** Lies on the node already, such as a package of its distribution. */
  z.object({
    kind: z.literal('path'),
    name: programName,
    /** By which it tells its version; null: it does not. */
    version_arguments: z.array(line).max(16).nullable().default(null),
  }),
  /** Fetched by the agent from its own server, verified, unpacked. */
  z.object({
    kind: z.literal('bundle'),
    sha256,
    size_bytes: z.int().min(1),
    /** `file`: the program itself. */
    format: z.enum(['file', 'tar', 'tar.gz']),
    /** Where its server has it. */
    path: z.string().max(255).startsWith('/'),
    /** The program in it; of a single file what it is to be called. */
    entry: relativePath,
    version_arguments: z.array(line).max(16).nullable().default(null),
  }),
  /** A container of the node's Docker. */
  z.object({
    kind: z.literal('image'),
    /** With its tag or digest. */
    image: z
      .string()
      .max(512)
      .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/),
    /** Left out: the image's own. */
    entrypoint: z.array(line).max(64).optional(),
    /** `host`: its ports are the node's; `bridge`: they are published. */
    network: z.enum(['host', 'bridge']).default('host'),
    /** Where its files and its data are seen from inside; files are read-only. */
    files_at: absolutePath.default('/kept/files'),
    data_at: absolutePath.default('/kept/data'),
    /** `never`: it lies there already. */
    pull: z.enum(['missing', 'never']).default('missing'),
  }),
])

/** How it is known that it works. Asked from the node itself, at its loopback address unless another is named. */
const health = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('tcp'), port, address: z.string().max(64).default('127.0.0.1') }),
  z.object({
    kind: z.literal('http'),
    /** `https`: whoever answers is believed, as nobody else is asked. */
    scheme: z.enum(['http', 'https']).default('http'),
    port,
    address: z.string().max(64).default('127.0.0.1'),
    path: z.string().max(1_024).startsWith('/').default('/'),
    status: z.array(z.int().min(100).max(599)).min(1).max(32).default([200]),
  }),
])

/**
 * What is to be there. In arguments, environment and texts of files `${KEPT_FILES}`, `${KEPT_DATA}` and `${KEPT_PROGRAM}` stand
 * for where its files, its data and its unpacked bundle lie, as the program sees them.
 */
export const keptWanted = z.object({
  /** What operators see of it on the node. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,27}$/),
  /** Of the program; null: whichever lies there. */
  version: z.string().min(1).max(64).nullable().default(null),
  program,
  arguments: z.array(line).max(256).default([]),
  environment: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), line).default({}),
  /** In a folder of their own, which is made anew with each change. */
  files: z
    .array(
      z.object({
        path: relativePath,
        text: z.string().max(1_048_576),
        mode: z.int().min(0).max(0o777).default(0o644),
        /** Of which nobody but the program and root reads anything, whatever the mode. */
        secret: z.boolean().default(false),
      }),
    )
    .max(100)
    .default([]),
  /** It listens on these; nobody else may have them. `inside`: its port in the container, where that is another. */
  ports: z
    .array(z.object({ port, protocol: z.enum(['tcp', 'udp']).default('tcp'), address: z.string().max(64).default('0.0.0.0'), inside: port.optional() }))
    .max(64)
    .default([]),
  /** A folder that outlives changes; null: it keeps nothing. `path` null: among what the agent has. `adopt`: what lies there already is its. */
  data: z
    .object({ path: absolutePath.nullable().default(null), adopt: z.boolean().default(false) })
    .nullable()
    .default(null),
  /** Null: a system user of its own, by its name; `root` only where it has to be. One that is missing is made, and goes with it. Of an image: the image's own, unless named. */
  user: userName.nullable().default(null),
  restart: z
    .object({
      policy: z.enum(['always', 'on-failure', 'never']).default('always'),
      first_ms: milliseconds.default(1_000),
      most_ms: milliseconds.default(60_000),
    })
    .prefault({}),
  /** Null: it is healthy where it runs. */
  health: health.nullable().default(null),
  health_times: z
    .object({
      every_ms: milliseconds.min(100).default(5_000),
      timeout_ms: milliseconds.min(100).default(3_000),
      /** So many in a row make it unhealthy. */
      failures: z.int().min(1).max(100).default(3),
      /** Before that it is starting, not unhealthy. */
      start_ms: milliseconds.default(30_000),
    })
    .prefault({}),
  stop: z.object({ signal: signal.default('SIGTERM'), timeout_ms: milliseconds.default(30_000) }).prefault({}),
  /**
   * By which it reads its files anew; null: it is restarted instead. A change of nothing but files, ports and health of one
   * that runs as a process is put in its place by this signal, and taken back by it, too: what it holds open stays open.
   */
  reload_signal: signal.nullable().default(null),
  /**
   * Run once, as its user, before the first start while its data folder is empty, such as `initdb`; null: nothing is. One that was
   * ended half-way, or failed, begins anew with an empty folder.
   */
  prepare: z
    .object({ name: programName, arguments: z.array(line).max(64).default([]), timeout_ms: milliseconds.default(300_000) })
    .nullable()
    .default(null),
  /** With these its program says whether it understands its files, before anything of what runs is changed; null: it is not asked. */
  check_arguments: z.array(line).max(64).nullable().default(null),
  needs: z.object({ memory_bytes: z.int().min(0).default(0), disk_bytes: z.int().min(0).default(0) }).prefault({}),
  log: z.object({ file_bytes: z.int().min(4_096).max(1_073_741_824).default(10_485_760), files: z.int().min(1).max(20).default(3) }).prefault({}),
})
/** As it is written: what is left out is by default. */
export type KeptWanted = z.input<typeof keptWanted>
/** As it is read. */
export type KeptWish = z.output<typeof keptWanted>

export const keptOrder = z.object({
  /** {@link keptWanted} as JSON text, whose SHA-256 (hex) is its digest: so agents and servers of different versions mean the same by it. */
  wanted: z.string().max(16_777_216),
  /** For the pull of its image, and kept nowhere. */
  registry_auth: z
    .object({ server: z.string().max(255), username: z.string().max(255), password: z.string().max(8_192) })
    .nullable()
    .default(null),
})
export type KeptOrder = z.input<typeof keptOrder>

/** Why it would not run there. */
export const keptReasons = [
  /** `program` */
  'program_missing',
  /** `program`, `said` */
  'program_broken',
  /** `program`, `wanted`, `found` */
  'version_other',
  /** `port`, `protocol`, `by`: a program and its number, or empty where that cannot be seen. */
  'port_taken',
  /** `path`, `free_bytes`, `needed_bytes` */
  'disk_short',
  /** `free_bytes`, `needed_bytes` */
  'memory_short',
  /** `path` */
  'data_foreign',
  /** `path`, `user`, `said` */
  'data_closed',
  /** `user`, `said` */
  'user_unmakable',
  /** `said` */
  'docker_missing',
  /** The agent is in a container, which ends with it: only images can be kept. */
  'agent_contained',
] as const
export type KeptReason = (typeof keptReasons)[number]

const said = z.string().max(2_000)
export const keptPreflight = z.object({
  /** None: it can be placed. */
  problems: z.array(z.object({ reason: z.enum(keptReasons), values: z.record(z.string(), z.union([said, z.number()])) })).max(200),
  /** What its program says of itself; null where it was not asked, or is not there yet. */
  program_version: said.nullable(),
})
export type KeptPreflight = z.output<typeof keptPreflight>
export type KeptProblem = KeptPreflight['problems'][number]

export const keptAction = z.discriminatedUnion('action', [
  /**
   * Puts what is placed in the place of what runs, and starts it. Where it is not healthy within this time, and there was one
   * before, that one comes back; {@link keptState} says in `applied` what became of it.
   */
  z.object({ action: z.literal('apply'), digest: sha256, healthy_within_ms: milliseconds.min(1_000) }),
  z.object({ action: z.literal('start') }),
  /** By its signal; what is left after its time is ended. It stays stopped, also after a restart of the node. */
  z.object({ action: z.literal('stop') }),
  /** `key`: of whoever asks. One that was carried out is not carried out again. */
  z.object({ action: z.literal('restart'), key: z.string().max(64) }),
  z.object({ action: z.literal('reload'), key: z.string().max(64) }),
])
export type KeptAction = z.output<typeof keptAction>

const moment = z.iso.datetime()
export const keptState = z.object({
  id: keptId,
  name: z.string(),
  /** Of what is applied; null where nothing was. */
  digest: sha256.nullable(),
  wanted_version: z.string().nullable(),
  /** What its program says of itself. */
  program_version: said.nullable(),
  /** Whether it is to run. */
  to_run: z.boolean(),
  /** What lies beside it, or is on its way there; null where nothing does. */
  placing: z
    .object({
      digest: sha256,
      state: z.enum(['placing', 'placed', 'failed']),
      /** Of what is fetched; `total_bytes` null where nobody knows. */
      done_bytes: z.number(),
      total_bytes: z.number().nullable(),
      error: said.nullable(),
    })
    .nullable(),
  /**
   * `running`: it was looked for and is there, and is the one that the agent started. `waiting`: it ended and is started again at
   * `next_start_at`. `ended`: by itself, and is not started again. `failed`: it could not be started.
   */
  process: z.object({
    state: z.enum(['none', 'running', 'stopping', 'stopped', 'waiting', 'ended', 'failed']),
    pid: z.int().nullable(),
    container_id: z.string().nullable(),
    started_at: moment.nullable(),
    /** The last time that it ended without being told to. */
    ended_at: moment.nullable(),
    exit_code: z.int().nullable(),
    exit_signal: z.string().nullable(),
    next_start_at: moment.nullable(),
    /** So often it ended without being told to, since it was applied or started. */
    crashes: z.int(),
    error: said.nullable(),
  }),
  health: z.object({
    state: z.enum(['none', 'starting', 'healthy', 'unhealthy']),
    since: moment.nullable(),
    checked_at: moment.nullable(),
    error: said.nullable(),
  }),
  /** The last `apply`: `trying` until it is decided. `went_back`: the one before runs again. `failed`: there was none before. */
  applied: z.object({ digest: sha256, result: z.enum(['trying', 'kept', 'went_back', 'failed']), at: moment, error: said.nullable() }).nullable(),
  /** Keys of the last `restart` and `reload` that were carried out. */
  last_keys: z.object({ restart: z.string().nullable(), reload: z.string().nullable() }),
  removing: z.boolean(),
  /** Why it cannot be taken away; tried again when it is asked for again. */
  removing_error: said.nullable(),
  data_path: z.string().nullable(),
  /** The last lines of what it said; none in a list. */
  last_words: z.array(z.string().max(1_000)).max(20),
})
export type KeptState = z.output<typeof keptState>

export const keptList = z.object({ items: z.array(keptState).max(1_000) })

/** Of `log`: more lines are not given at once. */
export const keptLogLinesMost = 10_000
