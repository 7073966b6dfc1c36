import { createHash } from 'node:crypto'
import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import type { DatabaseService, ServiceType } from '@zhisuan/contract/middleware/service'

export type ServiceShape = Pick<DatabaseService, 'type' | 'port' | 'listens' | 'memory_mb' | 'connections_most'>

const loopback = '127.0.0.1'
const everywhere = '0.0.0.0'
const mebibyte = 1_048_576
/** Beside what it keeps in memory: the program itself. */
const ownBytes = 64 * mebibyte

/** A text in SQL of MariaDB. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/** The program of a type: Debian's, and how it is to be run. What it is prepared with has its first password, which is never an argument. */
const programs: Readonly<
  Record<
    ServiceType,
    (shape: ServiceShape, password: string, address: string) => Pick<KeptWanted, 'name' | 'program' | 'arguments' | 'files' | 'prepare' | 'stop'>
  >
> = {
  mysql: ({ port, memory_mb, connections_most }, password, address) => ({
    name: 'mariadb',
    program: { kind: 'path', name: 'mariadbd', version_arguments: ['--version'] },
    arguments: [
      '--no-defaults',
      '--datadir=${KEPT_DATA}',
      // Within its folder: the whole path may be longer than a socket's may be.
      '--socket=mariadbd.sock',
      '--pid-file=mariadbd.pid',
      `--bind-address=${address}`,
      `--port=${port}`,
      `--innodb-buffer-pool-size=${memory_mb}M`,
      `--max-connections=${connections_most}`,
      '--skip-name-resolve',
      '--character-set-server=utf8mb4',
      // Whoever looks whether it is there says nothing more: no warning for that.
      '--log-warnings=1',
    ],
    files: [
      {
        path: 'first.sql',
        // Only one administrator, by password, from wherever it is reached.
        text: [
          "DELETE FROM mysql.global_priv WHERE User IN ('root', '');",
          'FLUSH PRIVILEGES;',
          `CREATE USER 'root'@'%' IDENTIFIED BY ${quoted(password)};`,
          "GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;",
          '',
        ].join('\n'),
        secret: true,
        mode: 0o600,
      },
    ],
    prepare: {
      name: 'mariadb-install-db',
      arguments: [
        '--no-defaults',
        '--datadir=${KEPT_DATA}',
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        '--skip-name-resolve',
        '--extra-file=${KEPT_FILES}/first.sql',
      ],
    },
    stop: { signal: 'SIGTERM', timeout_ms: 120_000 },
  }),
  postgresql: ({ port, memory_mb, connections_most }, password, address) => ({
    name: 'postgresql',
    program: { kind: 'path', name: '/usr/lib/postgresql/15/bin/postgres', version_arguments: ['--version'] },
    arguments: [
      '-D',
      '${KEPT_DATA}',
      ...[
        `listen_addresses=${address}`,
        `port=${port}`,
        'unix_socket_directories=',
        'hba_file=${KEPT_FILES}/pg_hba.conf',
        `shared_buffers=${memory_mb}MB`,
        `max_connections=${connections_most}`,
      ].flatMap((setting) => ['-c', setting]),
    ],
    files: [
      { path: 'password', text: `${password}\n`, secret: true, mode: 0o600 },
      { path: 'pg_hba.conf', text: 'host all all all scram-sha-256\n' },
    ],
    prepare: {
      name: '/usr/lib/postgresql/15/bin/initdb',
      arguments: [
        '-D',
        '${KEPT_DATA}',
        '-U',
        'postgres',
        '--pwfile=${KEPT_FILES}/password',
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C.UTF-8',
        '--data-checksums',
      ],
    },
    // Whoever is connected is not waited for.
    stop: { signal: 'SIGINT', timeout_ms: 120_000 },
  }),
  redis: ({ port, memory_mb, connections_most }, password, address) => ({
    name: 'redis',
    program: { kind: 'path', name: 'redis-server', version_arguments: ['--version'] },
    arguments: [
      '--port',
      String(port),
      '--bind',
      address,
      '--dir',
      '${KEPT_DATA}',
      // What every write has written down, once a second.
      '--appendonly',
      'yes',
      '--save',
      '',
      '--maxmemory',
      `${memory_mb}mb`,
      // Full, it refuses to write rather than to forget.
      '--maxmemory-policy',
      'noeviction',
      '--maxclients',
      String(connections_most),
      '--aclfile',
      '${KEPT_DATA}/users.acl',
      '--daemonize',
      'no',
      // It would be written over what the agent knows its processes by.
      '--set-proc-title',
      'no',
    ],
    files: [
      {
        path: 'users.acl',
        text: `user default on #${createHash('sha256').update(password).digest('hex')} ~* &* +@all\n`,
        secret: true,
        mode: 0o600,
      },
    ],
    // Its users are kept where it writes them down when they change.
    prepare: { name: 'install', arguments: ['-m', '600', '${KEPT_FILES}/users.acl', '${KEPT_DATA}/users.acl'] },
    stop: { signal: 'SIGTERM', timeout_ms: 120_000 },
  }),
}

/** A service as its node keeps it. */
export function wantedService(shape: ServiceShape, password: string): KeptWanted {
  const address = shape.listens === 'loopback' ? loopback : everywhere
  return {
    ...programs[shape.type](shape, password, address),
    ports: [{ port: shape.port, address }],
    data: {},
    health: { kind: 'tcp', port: shape.port },
    health_times: { every_ms: 2_000, start_ms: 60_000 },
    needs: { memory_bytes: shape.memory_mb * mebibyte + ownBytes, disk_bytes: 512 * mebibyte },
  }
}
