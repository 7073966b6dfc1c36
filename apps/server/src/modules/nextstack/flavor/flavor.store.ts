import type { Flavor } from '@zhisuan/contract/nextstack/vm'
import { sql } from 'kysely'
import { migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { containing, paged, type PageQuery } from '../../../platform/db/page.ts'

interface FlavorTable {
  id: string
  name: string
  cpu_cores: number
  memory_bytes: number
  disk_bytes: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    flavors: FlavorTable
  }
}

export const flavorMigrations: Migrations = {
  // The first sizes; administrators make others.
  '20261121_30_flavors': migration(`
    create table flavors (
      id uuid primary key,
      name text not null unique,
      cpu_cores integer not null check (cpu_cores > 0),
      memory_bytes bigint not null check (memory_bytes > 0),
      disk_bytes bigint not null check (disk_bytes > 0)
    );
    insert into flavors (id, name, cpu_cores, memory_bytes, disk_bytes)
    select gen_random_uuid(), name, cores, mib * 1048576, gib * 1073741824
    from (values
      ('nano', 1, 256::bigint, 5::bigint),
      ('micro', 1, 512, 10),
      ('small', 1, 1024, 20),
      ('medium', 2, 2048, 40),
      ('large', 2, 4096, 60),
      ('xlarge', 4, 8192, 80),
      ('2xlarge', 8, 16384, 160)
    ) as first (name, cores, mib, gib);
  `),
}

export async function listFlavors(on: Sql, query: PageQuery & { keyword?: string | undefined }): Promise<{ total: number; items: Flavor[] }> {
  const filtered = on
    .selectFrom('flavors')
    .$if(query.keyword !== undefined && query.keyword !== '', (q) => q.where('name', 'ilike', containing(query.keyword ?? '')))
  const [count, items] = await Promise.all([
    filtered.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
    paged(filtered.selectAll(), query, {
      by: { name: 'name', cpu_cores: 'cpu_cores', memory_bytes: 'memory_bytes' },
      fallback: 'memory_bytes',
      id: 'id',
    }).execute(),
  ])
  return { total: count.total, items }
}

export const getFlavor = (on: Sql, id: string): Promise<Flavor | undefined> =>
  on.selectFrom('flavors').selectAll().where('id', '=', id).executeTakeFirst()
