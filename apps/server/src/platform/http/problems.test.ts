import { EngineError } from '@zhisuan/engines/errors'
import { OpenStackError } from '@zhisuan/engines/openstack/errors'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase } from '../../testing/database.ts'
import { Refusal } from '../errors.ts'
import { toRefusal } from './problems.ts'

describe('what the database refuses', () => {
  let database: { url: string; drop(): Promise<void> }
  let client: pg.Client
  beforeAll(async () => {
    database = await freshDatabase()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await database.drop()
  })
  const thrownBy = (text: string, values: unknown[] = []): Promise<unknown> =>
    client.query(text, values).then(
      () => null,
      (error: unknown) => error,
    )

  // Somebody's characters, not our failure.
  it.each([
    ['U+0000 in a text', 'select $1::text', ['a\u0000b'], '22021'],
    ['U+0000 in JSON', 'select $1::jsonb', ['"a\\u0000b"'], '22P05'],
    ['what another encoding lacks', "select convert_to($1, 'LATIN1')", ['云'], '22P05'],
  ])('because of %s is a bad request', async (_, text, values, code) => {
    const error = await thrownBy(text, values)
    expect(error).toMatchObject({ code })
    expect(toRefusal(error)).toMatchObject({ refusal: 'requestInvalid', cause: error })
  })

  it('for other reasons is our failure', async () => {
    expect(toRefusal(await thrownBy('select 1 / 0')).refusal).toBe('unknown')
  })
})

describe('what an engine refuses', () => {
  it('is told from the catalogue, without the engine’s own words', () => {
    const refusal = toRefusal(new EngineError('exhausted', 'no space on /dev/sda1'))
    expect(refusal).toMatchObject({ refusal: 'nodeResourcesInsufficient', message: '节点资源不足', values: {} })
  })
})

describe('what an OpenStack refuses', () => {
  const place = { cloud: '云', service: 'compute', requestId: 'req-1' } as const

  it.each([
    ['Quota exceeded for cores: Requested 2, but already used 19 of 20 cores', 'vCPU（需要2，已用19，配额20）'],
    ['Quota exceeded for ram: Requested 4096, but already used 8192 of 8192 ram', '内存（需要4096 MB，已用8192 MB，配额8192 MB）'],
    ['Requested backup exceeds allowed Backup gigabytes quota. Requested 2G, quota is 1G', '备份容量（需要2 GB，配额1 GB）'],
    ["Maximum number of volumes allowed (10) exceeded for quota 'volumes'.", '云硬盘数（配额10）'],
    ["Quota exceeded for resources: ['floatingip'].", '浮动 IP 数'],
  ])('because of a quota names it with its figures: %s', (said, text) => {
    const refusal = toRefusal(new OpenStackError('exhausted', said, place, { status: 403 }))
    expect(refusal).toMatchObject({ refusal: 'computeQuotaExceeded', message: `云平台项目的配额已用完：${text}` })
  })

  it.each([
    ['disabled', 'computeProjectDisabled'],
    ['gone', 'computeProjectGone'],
    ['role', 'computeProjectRole'],
  ] as const)('because a project is not open (%s) says so, and nothing of credentials', (project, refusal) => {
    expect(toRefusal(new OpenStackError('unauthorized', 'refused', place, { status: 401, project }))).toMatchObject({ refusal })
  })
})

it('leaves a refusal as it is', () => {
  const refusal = new Refusal('stateForbids')
  expect(toRefusal(refusal)).toBe(refusal)
})
