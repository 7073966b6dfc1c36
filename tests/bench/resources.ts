import { join } from 'node:path'
import pg from 'pg'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { auth } from '@zhisuan/contract/ums/auth'
import { organisations } from '@zhisuan/contract/ums/user'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { register } from '../browser/people.ts'
import { administratorPassword, asAdministrator, Client, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { percentile, timed } from './stats.ts'

const count = 100_000
const runs = 100
const limitMs = 20

/** Lists over 100,000 of each kind of nextStack's resources, as an administrator sees them and as an organisation that has half of them. */
export async function benchResources(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  const first = new pg.Client({ connectionString: postgres.url('postgres') })
  await first.connect()
  await first.query('create database bench')
  await first.end()
  const url = postgres.url('bench')
  const server = await startServer(data, { DATABASE_URL: url, LOCAL_CLOUD: 'sandbox', LOG_LEVEL: 'error' })
  const sql = new pg.Client({ connectionString: url })
  await sql.connect()
  try {
    const administrator = await asAdministrator(server)
    const cloud = (await administrator.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    // Nobody follows it then: the engine has none of these.
    await administrator.call(clouds.action, { params: { id: cloud }, body: { action: 'offline' } })
    const account = await register(server.url, 'bench-owner', '压测组织')
    const bp = (await administrator.call(organisations.list)).items.find(({ name }) => name === '压测组织')?.id ?? ''
    await sql.query(
      `insert into flavors (id, name, cpu_cores, memory_bytes, disk_bytes, public, gpu_model, gpu_count, created_at)
       select gen_random_uuid(), 'bench-' || n, 1 + n % 64, (1 + n % 512)::bigint << 30, 10737418240, n % 2 = 0,
         case when n % 10 = 0 then 'A100' end, case when n % 10 = 0 then 2 end, now() - n * interval '1 second' from generate_series(1, $1) as n`,
      [count],
    )
    await sql.query('insert into flavor_organisations select id, $1 from flavors where not public and cpu_cores % 2 = 0', [bp])
    await sql.query(
      `insert into vms (id, cloud_id, bp_id, name, description, type, status, engine_name, image_fingerprint, image_name, flavor_id, flavor_name, cpu_cores, memory_bytes, disk_bytes, network, created_by_name)
       select gen_random_uuid(), $1, $2, name, '', 'container', 'lost', name, repeat('0', 64), 'busybox', id, name, 1, 1, 1, 'sandbox0', '' from flavors`,
      [cloud, bp],
    )
    await sql.query(
      `insert into key_pairs (id, bp_id, name, description, algorithm, public_key, fingerprint, fingerprint_md5, generated, created_by_name, created_at)
       select gen_random_uuid(), case when n % 2 = 0 then $2::uuid end, 'bench-' || n, '', (array['ssh-ed25519', 'ssh-rsa'])[1 + n % 2], 'ssh-ed25519 AAAA', 'SHA256:' || md5(n::text), md5(n::text), true, '',
         now() - n * interval '1 second' from generate_series(1, $1) as n`,
      [count, bp],
    )
    await sql.query('insert into vm_key_pairs select vms.id, key_pairs.id from vms join key_pairs on key_pairs.name = vms.name')
    await sql.query(
      `insert into commands (id, cloud_id, bp_id, name, script, timeout_seconds, status, vm_count, created_by_name, created_at, finished_at)
       select gen_random_uuid(), $2, case when n % 2 = 0 then $3::uuid end, 'uptime ' || n, repeat('echo ', 500), 60,
         (array['succeeded', 'failed', 'cancelled'])[1 + n % 3], 2, '', now() - n * interval '1 second', now() from generate_series(1, $1) as n`,
      [count, cloud, bp],
    )
    // Half are the organisation's, half nobody's.
    const owner = 'case when n % 2 = 0 then $3::uuid end'
    const about = `'bench-' || n, ''`
    const made = `'', now() - n * interval '1 second'`
    const fill = (table: string, columns: string, values: string, from = 'generate_series(1, $1) as n') =>
      sql.query(
        `insert into ${table} (id, cloud_id, bp_id, name, description, created_by_name, created_at, ${columns}) select gen_random_uuid(), $2, ${owner}, ${about}, ${made}, ${values} from ${from}`,
        [count, cloud, bp],
      )
    /** Numbers the rows of a table, to hang others on them one by one. */
    const each = (table: string) => `(select id as of_id, bp_id as of_bp, row_number() over (order by name) as n from ${table}) as one where n <= $1`
    const ofEach = (table: string, columns: string, values: string, of: string) =>
      sql.query(
        `insert into ${table} (id, cloud_id, bp_id, name, description, created_by_name, created_at, ${columns}) select gen_random_uuid(), $2, of_bp, ${about}, ${made}, ${values} from ${each(of)}`,
        [count, cloud],
      )
    const states = (...names: string[]) => `(array[${names.map((name) => `'${name}'`).join(', ')}])[1 + n % ${names.length}]`
    await ofEach(
      'vm_snapshots',
      'vm_id, engine_name, size_bytes, status',
      `of_id, 'bench-' || n, n::bigint * 1048576, ${states('available', 'available', 'error')}`,
      'vms',
    )
    await ofEach(
      'vm_snapshot_schedules',
      'vm_id, rhythm, at, time_zone, keep, enabled, next_run_at',
      `of_id, 'daily', '03:00', 'Asia/Shanghai', 7, true, now() + interval '1 day' + n * interval '1 second'`,
      'vms',
    )
    await fill(
      'volumes',
      'pool, content, engine_name, size_bytes, status',
      `'default', 'filesystem', 'bench-' || n, n::bigint * 1048576, ${states('available', 'in_use', 'error')}`,
    )
    await ofEach(
      'volume_snapshots',
      'volume_id, engine_name, size_bytes, status',
      `of_id, 'bench-' || n, n::bigint * 1048576, ${states('available', 'available', 'error')}`,
      'volumes',
    )
    await ofEach(
      'volume_backups',
      'volume_id, content, size_bytes, file_bytes, sha256, status',
      `of_id, 'filesystem', n::bigint * 1048576, n::bigint * 1000, md5(n::text), ${states('available', 'available', 'error')}`,
      'volumes',
    )
    await fill('security_groups', 'rules', `'[]'::jsonb`)
    await fill(
      'vpcs',
      'engine_name, cidr, dhcp, status, wanted, applying, applied',
      `'bench-' || n, set_masklen('10.0.0.0'::inet + n * 128::bigint, 25)::cidr, true, ${states('active', 'active', 'error')}, 1, 1, 1`,
    )
    await ofEach('nat_gateways', 'vpc_id, snat', 'of_id, true', 'vpcs')
    const pool =
      (
        await sql.query<{ id: string }>(
          `insert into eip_pools (id, cloud_id, name, description, public, excluded, address_count) values (gen_random_uuid(), $1, 'bench', '', true, '[]', $2) returning id`,
          [cloud, count],
        )
      ).rows[0]?.id ?? ''
    await fill('eips', 'number, pool_id, status', `3221225472 + n, '${pool}', ${states('available', 'bound', 'error')}`)
    await fill(
      'images',
      'status, visibility, source, fingerprint, type, cloud_init, size_bytes, min_cpu_cores, min_memory_bytes, min_disk_bytes',
      `${states('active', 'active', 'error')}, ${states('private', 'private', 'private', 'public')}, 'upload', md5(n::text), 'container', false, n * 1000, 1, 1, 1`,
    )
    await sql.query('vacuum analyze')

    const tokenOf = async (username: string, password: string): Promise<string> =>
      (await new Client(server.url).call(auth.password, { body: { username, password } })).token
    const who = { administrator: await tokenOf('admin', administratorPassword), organisation: await tokenOf(account.username, account.password) }
    const cases = [
      ['flavors', ''],
      ['flavors', 'page_num=500'],
      ['flavors', 'sort=-created_at'],
      ['flavors', 'sort=name&page_num=50'],
      ['flavors', 'public=false'],
      ['flavors', 'gpu=true'],
      ['flavors', 'keyword=bench-4242'],
      ['key-pairs', ''],
      ['key-pairs', 'page_num=500'],
      ['key-pairs', 'sort=name'],
      ['key-pairs', 'sort=-algorithm'],
      ['key-pairs', 'keyword=bench-4242'],
      ['commands', `cloud_id=${cloud}`],
      ['commands', `cloud_id=${cloud}&page_num=500`],
      ['commands', `cloud_id=${cloud}&status=failed`],
      ['commands', `cloud_id=${cloud}&sort=name`],
      ['commands', `cloud_id=${cloud}&sort=-status`],
      ['commands', `cloud_id=${cloud}&keyword=uptime+4242`],
      ...(['snapshots', 'volumes', 'volume-snapshots', 'volume-backups', 'vpcs', 'security-groups', 'nat-gateways', 'eips', 'image-library'] as const).flatMap(
        (list) =>
          [
            [list, `cloud_id=${cloud}`],
            [list, `cloud_id=${cloud}&page_num=500`],
            [list, `cloud_id=${cloud}&sort=name&page_num=50`],
            [list, `cloud_id=${cloud}&keyword=bench-4242`],
          ] as const,
      ),
      ...(['snapshots', 'volumes', 'volume-snapshots', 'volume-backups', 'vpcs', 'eips', 'image-library'] as const).flatMap(
        (list) =>
          [
            [list, `cloud_id=${cloud}&status=error&page_num=3`],
            [list, `cloud_id=${cloud}&sort=-status`],
          ] as const,
      ),
      ['snapshots', `cloud_id=${cloud}&sort=-size_bytes`],
      ['snapshot-schedules', `cloud_id=${cloud}`],
      ['snapshot-schedules', `cloud_id=${cloud}&sort=next_run_at&page_num=50`],
      ['volumes', `cloud_id=${cloud}&sort=size_bytes`],
      ['eips', `cloud_id=${cloud}&sort=address`],
    ] as const
    const figures: Figure[] = []
    for (const [name, token] of Object.entries(who)) {
      for (const [list, query] of cases) {
        const get = async (): Promise<void> => {
          const response = await fetch(`${server.url}/api/nextstack/v1/${list}?${query}`, { headers: { authorization: `Bearer ${token}` } })
          const { items } = (await response.json()) as { items?: readonly unknown[] }
          if (items === undefined || items.length === 0) throw new Error(`${list} ${query} answered ${response.status} and nothing`)
        }
        for (let warm = 0; warm < 10; warm++) await get()
        const times: number[] = []
        for (let run = 0; run < runs; run++) times.push(await timed(get))
        const p95 = percentile(times, 0.95)
        const shown = query.replace(`cloud_id=${cloud}`, 'of a cloud')
        figures.push({
          name: `list of ${count} ${list}, ${name}, ${shown === '' ? 'first page' : shown}, p95`,
          ours: `${p95.toFixed(1)} ms`,
          floor: `${limitMs} ms`,
          value: p95 / limitMs,
          bar: `≤ ${limitMs} ms`,
          met: p95 <= limitMs,
        })
      }
    }
    return figures
  } finally {
    await sql.end()
    await server.stop()
    await postgres.stop()
  }
}
