import { defineConfig } from 'vitest/config'

const cluster = ['packages/engines/src/lxd/cluster.engine.test.ts']
const docker = [
  'packages/engines/src/docker/**/*.engine.test.ts',
  'tests/engines/{agent,container,edge,local-agent,stack,docker,registry,market,monitor,gateway,service}.*test.ts',
]

/**
 * Tests on real engines, by what they share. They wait for their engines more than they compute, so of some several files
 * run at a time: each names what it makes as nobody else does, and looks at nothing else. A suite that comes to these has
 * three minutes on a quiet machine with two cores; what would take longer shares a start, a restart or an instance.
 */
const engines = {
  /** The host's LXD, and what belongs to none of the others. */
  lxd: {
    include: ['packages/engines/src/**/*.engine.test.ts', 'tests/engines/**/*.test.ts'],
    exclude: [...cluster, ...docker, '**/*.openstack.test.ts'],
    workers: 3,
    servers: true,
  },
  /** LXDs of their own, in networks of their own. */
  cluster: { include: cluster, exclude: [], workers: 1, servers: false },
  /** The host's Docker. */
  docker: { include: docker, exclude: [], workers: 2, servers: true },
  /** The cloud that `scripts/engines.sh openstack up` makes. */
  openstack: {
    include: ['packages/engines/src/openstack/**/*.openstack.test.ts', 'apps/server/src/**/*.openstack.test.ts', 'tests/engines/**/*.openstack.test.ts'],
    exclude: [],
    workers: 1,
    servers: true,
  },
}

const database = ['apps/server/src/testing/database.ts']
const patience = {
  setupFiles: ['tests/support/patience.ts'],
  expect: { poll: { timeout: 60_000 } },
  // Ends what hangs, and nothing else: a machine that does everything at once is slow.
  testTimeout: 900_000,
  hookTimeout: 600_000,
}

const unit = {
  ...patience,
  name: 'unit',
  include: ['apps/*/src/**/*.test.{ts,tsx}', 'apps/web/*.test.ts', 'packages/*/src/**/*.test.ts'],
  exclude: ['**/*.long.test.ts', '**/*.engine.test.ts', '**/*.openstack.test.ts', '**/node_modules/**'],
  // To import the server takes longer than most files take to test their part of it: one import serves many. So nobody mocks modules.
  isolate: false,
  // Else all styles are empty, also where a test reads them as text.
  css: { include: [/\?raw/] },
  // One PostgreSQL for all; each file that builds the server gets a database of its own.
  globalSetup: database,
  // They wait for the database and for what happens later as long as they compute: three keep two processors busy.
  maxWorkers: 3,
}

/** Of the same kind, and more than 8 s alone: not among what is run all the time. */
const long = {
  ...unit,
  name: 'long',
  include: ['apps/*/src/**/*.long.test.ts', 'packages/*/src/**/*.long.test.ts'],
  exclude: ['**/node_modules/**'],
}

/** Unit and API tests lie beside what they test; engine tests need a real engine and run apart. */
export default defineConfig({
  test: {
    projects: [
      { test: unit },
      { test: long },
      ...Object.entries(engines).map(([name, { include, exclude, workers, servers }], index) => ({
        test: {
          name,
          ...patience,
          ...(servers && { globalSetup: database, setupFiles: [...patience.setupFiles, 'apps/server/src/testing/database.shared.ts'] }),
          include,
          exclude: [...exclude, '**/node_modules/**'],
          maxWorkers: workers,
          // Those of different numbers of workers, asked for at once, run one after the other.
          sequence: { groupOrder: index + 1 },
        },
      })),
    ],
  },
})
