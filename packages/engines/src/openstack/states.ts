/**
 * What a server is in, in one word. Nova tells it by two: `vm_state`, where it rests, and `task_state`,
 * what is being done to it (Compute API guide, "Server concepts", and nova/compute/vm_states.py, task_states.py).
 */
export type ServerState =
  | 'creating'
  | 'running'
  | 'stopped'
  | 'paused'
  | 'suspended'
  | 'shelved'
  | 'rescued'
  /** Resized or migrated, waiting to be confirmed or reverted. */
  | 'resized'
  | 'soft_deleted'
  | 'deleted'
  | 'create_failed'
  /** It was created once, and something failed since. */
  | 'error'
  | 'starting'
  | 'stopping'
  | 'rebooting'
  | 'pausing'
  | 'unpausing'
  | 'suspending'
  | 'resuming'
  | 'shelving'
  | 'unshelving'
  | 'rescuing'
  | 'unrescuing'
  | 'resizing'
  | 'confirming'
  | 'reverting'
  | 'rebuilding'
  | 'migrating'
  | 'snapshotting'
  | 'restoring'
  | 'deleting'
  | 'unknown'

/** What is being done comes first. Tasks that are not named here, such as setting a password, change nothing. */
const tasks: readonly (readonly [RegExp, ServerState])[] = [
  [/^(scheduling|block_device_mapping|networking|spawning)$/, 'creating'],
  [/^(deleting|soft-deleting)$/, 'deleting'],
  [/^restoring$/, 'restoring'],
  [/^powering-on$/, 'starting'],
  [/^powering-off$/, 'stopping'],
  [/^(reboot|rebooting)/, 'rebooting'],
  [/^pausing$/, 'pausing'],
  [/^unpausing$/, 'unpausing'],
  [/^suspending$/, 'suspending'],
  [/^resuming$/, 'resuming'],
  [/^unshelving$/, 'unshelving'],
  [/^shelving/, 'shelving'],
  [/^rescuing$/, 'rescuing'],
  [/^unrescuing$/, 'unrescuing'],
  [/^resize_confirming$/, 'confirming'],
  [/^resize_reverting$/, 'reverting'],
  [/^resize_/, 'resizing'],
  [/^rebuild/, 'rebuilding'],
  [/^migrating$/, 'migrating'],
  [/^image_/, 'snapshotting'],
]
const rests: Readonly<Record<string, ServerState>> = {
  active: 'running',
  building: 'creating',
  paused: 'paused',
  suspended: 'suspended',
  stopped: 'stopped',
  rescued: 'rescued',
  resized: 'resized',
  'soft-delete': 'soft_deleted',
  deleted: 'deleted',
  error: 'error',
  shelved: 'shelved',
  shelved_offloaded: 'shelved',
}

/**
 * Specification, section 4: 0 creating, 1 running, 2 creation failed, 3 deleting, 4 deleted, 5 deletion
 * failed, 10 to 13 a dash, all else unknown. Nova knows no failed deletion (its servers fall back to
 * `error`), so 5 to 9 are never told. What rests without running is a dash; what it is says `ServerState`.
 */
const codes: Readonly<Record<ServerState, number>> = {
  creating: 0,
  running: 1,
  create_failed: 2,
  deleting: 3,
  deleted: 4,
  stopped: 10,
  paused: 11,
  suspended: 12,
  shelved: 13,
  soft_deleted: 4,
  // It runs, and will go on to run, whatever is done to it.
  rescued: 1,
  resized: 1,
  rebooting: 1,
  snapshotting: 1,
  migrating: 1,
  resizing: 1,
  confirming: 1,
  reverting: 1,
  rebuilding: 1,
  rescuing: 1,
  unrescuing: 1,
  stopping: 1,
  pausing: 1,
  suspending: 1,
  shelving: 1,
  starting: 10,
  unpausing: 11,
  resuming: 12,
  unshelving: 13,
  restoring: 10,
  error: 14,
  unknown: 14,
}

/** @param launched whether it ran once: what never did has failed to be created */
export function stateOf(vmState: string | null | undefined, taskState: string | null | undefined, launched: boolean): ServerState {
  const rest = rests[vmState ?? ''] ?? 'unknown'
  // What failed is in the middle of nothing, whatever task was left behind; only its deletion can still be under way.
  if (rest === 'error') return taskState === 'deleting' ? 'deleting' : launched ? 'error' : 'create_failed'
  // What is brought back is spawned as if it were new.
  if (rest === 'shelved' && taskState === 'spawning') return 'unshelving'
  return tasks.find(([task]) => taskState !== null && taskState !== undefined && task.test(taskState))?.[1] ?? rest
}

export const codeOf = (state: ServerState): number => codes[state]
