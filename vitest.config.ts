import { defineConfig } from 'vitest/config'

const cluster = ['packages/engines/src/lxd/cluster.engine.test.ts']
const docker = ['packages/engines/src/docker/**/*.engine.test.ts', 'tests/engines/{agent,container,edge,local-agent,stack}.*test.ts']

/** Tests on real engines, by what they share: one file at a time of each, each beside the others. */
const engines = {
  /** The host's LXD, and what belongs to none of the others. */
  lxd: { include: ['packages/engines/src/**/*.engine.test.ts', 'tests/engines/**/*.test.ts'], exclude: [...cluster, ...docker] },
  /** LXDs of their own, in networks of their own. */
  cluster: { include: cluster, exclude: [] },
  /** The host's Docker. */
  docker: { include: docker, exclude: [] },
  /** The cloud that `scripts/engines.sh openstack up` makes. */
  openstack: { include: ['packages/engines/src/openstack/**/*.openstack.test.ts'], exclude: [] },
}

const patience = { setupFiles: ['tests/support/patience.ts'], expect: { poll: { timeout: 20_000 } } }

/** Unit and API tests lie beside what they test; engine tests need a real engine and run apart. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          ...patience,
          include: ['apps/*/src/**/*.test.{ts,tsx}', 'packages/*/src/**/*.test.ts'],
          exclude: ['**/*.engine.test.ts', '**/*.openstack.test.ts', '**/node_modules/**'],
          // One PostgreSQL for all; each file that builds the server gets a database of its own.
          globalSetup: ['apps/server/src/testing/database.ts'],
          // Ends what hangs; a machine that does everything at once is slow.
          testTimeout: 180_000,
          hookTimeout: 120_000,
          // These wait for the database more than they compute: Vitest's own guess leaves a processor free.
          maxWorkers: 2,
        },
      },
      ...Object.entries(engines).map(([name, { include, exclude }]) => ({
        test: { name, ...patience, include, exclude: [...exclude, '**/node_modules/**'], testTimeout: name === 'openstack' ? 900_000 : 180_000, hookTimeout: name === 'openstack' ? 600_000 : 240_000, fileParallelism: false },
      })),
    ],
  },
})
