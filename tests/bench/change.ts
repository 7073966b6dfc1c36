import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import { users } from '@zhisuan/contract/ums/user'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { asAdministrator, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median, timed } from './stats.ts'

const rounds = 400

/** A call that changes one row, with its entry in the audit log, against both statements in one transaction, in turns. */
export async function benchChange(data: string): Promise<Figure[]> {
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
    const client = await asAdministrator(server)
    const { rows } = await sql.query<{ id: string }>(`select id from users where name = 'admin'`)
    const id = rows[0]?.id
    const ours: number[] = []
    const floors: number[] = []
    for (let round = 0; round < rounds; round++) {
      ours.push(await timed(() => client.call(users.updateCurrent, { body: { nickname: `n${round}`, description: '' } })))
      floors.push(
        await timed(async () => {
          await sql.query('begin')
          await sql.query('update users set nickname = $2 where id = $1', [id, `f${round}`])
          await sql.query(`insert into audit_log (id, call, actor_id, request_id, ip, code) values ($1, 'bench', $2, $3, '', 0)`, [
            randomUUID(),
            id,
            randomUUID(),
          ])
          await sql.query('commit')
        }),
      )
    }
    const [our, floor] = [median(ours.slice(50)), median(floors.slice(50))]
    return [
      {
        name: 'a call that changes a row, with its entry',
        ours: `${our.toFixed(2)} ms`,
        floor: `${floor.toFixed(2)} ms`,
        value: our / floor,
        bar: '≤ 5',
        met: our / floor <= 5,
      },
    ]
  } finally {
    await sql.end()
    await server.stop()
    await postgres.stop()
  }
}
