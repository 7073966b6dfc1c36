import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { someActor } from '../../../testing/actor.ts'
import { createRecordedCloud, type RecordedCloud } from '../../../testing/recordedCloud.ts'
import { createFloatingIps } from '../floating-ip/floating-ip.service.ts'
import type { Line } from '../../../platform/lines.ts'
import { createPorts } from './port.service.ts'

describe('lists that name instances', () => {
  const cloudId = '018f0000-0000-7000-8000-00000000000a'
  const actor = someActor()
  let cloud: RecordedCloud
  const asked: string[] = []
  beforeAll(async () => {
    cloud = await createRecordedCloud()
  })
  afterAll(() => cloud.close())
  beforeEach(() => {
    cloud.reset()
    asked.length = 0
    for (const key of ['ports', 'networks', 'routers', 'floatingips', 'security-groups'])
      cloud.replies[`GET /network/v2.0/${key}`] = () => ({ json: { [key.replace('-', '_')]: [] } })
    for (const path of ['/servers', '/servers/detail'])
      cloud.replies[`GET ${path}`] = () => {
        asked.push(path)
        return { json: { servers: [{ id: 's', name: 'web' }] } }
      }
  })
  const told = async (lines: AsyncIterable<Line<unknown>>): Promise<Line<unknown>[]> => {
    const all: Line<unknown>[] = []
    for await (const line of lines) all.push(line)
    return all
  }

  it('ask Nova for names, not for all that it knows of them', async () => {
    const signal = new AbortController().signal
    // Of neither a row is asked for in the database.
    const lists = [
      createFloatingIps({ db: {} as never, tenancy: cloud.tenancy }).list(actor, cloudId, 'r', signal),
      createPorts(cloud.tenancy).list(actor, cloudId, 'r', signal),
    ]
    for (const list of lists) {
      const lines = await told(list)
      expect(lines).toContainEqual({ names: { s: 'web' } })
      expect(lines.at(-1)).toEqual({ done: true })
    }
    expect(asked).toEqual(['/servers', '/servers'])
  })
})
