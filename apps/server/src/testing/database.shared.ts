import { inject } from 'vitest'

// A vitest's setup: servers that tests start as programs have their databases in the PostgreSQL of the run (tests/support/server.ts).
process.env['TEST_DATABASE_TEMPLATE'] = inject('templateUrl')
