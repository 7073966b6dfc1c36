import { EngineError } from '@zhisuan/engines/errors'
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

it('leaves a refusal as it is', () => {
  const refusal = new Refusal('stateForbids')
  expect(toRefusal(refusal)).toBe(refusal)
})
