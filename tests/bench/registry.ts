import { join } from 'node:path'
import { auth } from '@zhisuan/contract/ums/auth'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { administratorPassword, asAdministrator, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { percentile, timed } from './stats.ts'

const projects = 50
/** Of each project; the first has all the tags of {@link largest}, the others share the rest. */
const repositories = 20
const tags = 100_000
const largest = 10_000
const runs = 100
const most = 50

/** Lists over an index of 100,000 tags, one repository with 10,000 of them. */
export async function benchRegistry(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  const admin = new pg.Client({ connectionString: postgres.url('postgres') })
  await admin.connect()
  await admin.query('create database bench')
  await admin.end()
  const url = postgres.url('bench')
  const server = await startServer(data, { DATABASE_URL: url, LOCAL_CLOUD: 'none', LOG_LEVEL: 'error', ZHISUAN_ENV: 'production' })
  const sql = new pg.Client({ connectionString: url })
  await sql.connect()
  try {
    await asAdministrator(server)
    // Out of use: nobody asks a registry that is not there.
    await sql.query(`
      insert into registries (id, name, description, engine, origin, status, url, address, ours, connection, health, created_by_name)
      values ('00000000-0000-4000-8000-000000000001', 'bench', '', 'distribution', 'registered', 'deactive', 'http://127.0.0.1:1', '127.0.0.1:1', false, '', 'unknown', 'bench')`)
    await sql.query(
      `insert into registry_projects (id, registry_id, name, description, visibility, immutable_tags, keep_rules, bin_days, created_by_name)
       select ('00000000-0000-4000-8001-' || lpad(n::text, 12, '0'))::uuid, '00000000-0000-4000-8000-000000000001', 'project-' || n, '', 'private', '{}', '[]', 7, 'bench'
       from generate_series(1, $1) as n`,
      [projects],
    )
    await sql.query(
      `insert into registry_repositories (id, project_id, name, pushed_at)
       select ('00000000-0000-4000-8002-' || lpad(n::text, 12, '0'))::uuid, ('00000000-0000-4000-8001-' || lpad((1 + (n - 1) / $2::int)::text, 12, '0'))::uuid, 'app-' || n, now() - n * interval '1 minute'
       from generate_series(1, $1::int * $2::int) as n`,
      [projects, repositories],
    )
    await sql.query(
      `with numbered as (
         select n, case when n <= $2::int then 1 else 2 + n % ($3::int - 1) end as repository, 'sha256:' || encode(sha256(n::text::bytea), 'hex') as digest
         from generate_series(1, $1::int) as n
       ), manifests as (
         insert into registry_manifests (repository_id, digest, media_type, kind, artifact_type, size_bytes, platforms, children)
         select ('00000000-0000-4000-8002-' || lpad(repository::text, 12, '0'))::uuid, digest, 'application/vnd.oci.image.manifest.v1+json', 'image', '', 1000 + n,
           jsonb_build_array(jsonb_build_object('os', 'linux', 'architecture', 'amd64', 'variant', null, 'digest', digest, 'size_bytes', 1000 + n)), '{}'
         from numbered returning 1
       )
       insert into registry_tags (id, repository_id, name, digest, size_bytes, pushed_at)
       select gen_random_uuid(), ('00000000-0000-4000-8002-' || lpad(repository::text, 12, '0'))::uuid, 'v' || n, digest, 1000 + n, now() - n * interval '1 second' from numbered`,
      [tags, largest, projects * repositories],
    )
    await sql.query(`update registry_repositories as r set tag_count = (select count(*) from registry_tags where repository_id = r.id)`)
    await sql.query('vacuum analyze')
    const login = await fetch(`${server.url}${auth.password.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: administratorPassword }),
    })
    const { token } = (await login.json()) as { token: string }
    const base = '/api/ims/v1/docker/registries/00000000-0000-4000-8000-000000000001'
    const project = `${base}/projects/00000000-0000-4000-8001-000000000001`
    const cases = [
      ['registries', '/api/ims/v1/docker/registries'],
      ['projects', `${base}/projects`],
      ['repositories of all', `${base}/repos?page_num=40`],
      ['repositories by keyword', `${base}/repos?keyword=app-42`],
      ['tags, first page', `${project}/repositories/app-1/tags`],
      ['tags, page 900', `${project}/repositories/app-1/tags?page_num=900`],
      ['tags by size', `${project}/repositories/app-1/tags?sort=-size_bytes`],
      ['tags by keyword', `${project}/repositories/app-1/tags?keyword=v4242`],
    ] as const
    const figures: Figure[] = []
    for (const [name, path] of cases) {
      const ask = async (): Promise<void> => {
        const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } })
        if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
        await response.json()
      }
      for (let warm = 0; warm < 10; warm++) await ask()
      const times: number[] = []
      for (let run = 0; run < runs; run++) times.push(await timed(ask))
      const p95 = percentile(times, 0.95)
      figures.push({
        name: `${name}, over ${tags} tags of images, p95`,
        ours: `${p95.toFixed(1)} ms`,
        floor: `${most} ms`,
        value: p95 / most,
        bar: `≤ ${most} ms`,
        met: p95 <= most,
      })
    }
    return figures
  } finally {
    await sql.end()
    await server.stop()
    await postgres.stop()
  }
}
