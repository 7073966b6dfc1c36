import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOutboundGuard } from '../../../platform/outbound/guard.ts'
import { someActor } from '../../../testing/actor.ts'
import { createRecordedCloud, type RecordedCloud } from '../../../testing/recordedCloud.ts'
import { createImages } from './image.service.ts'

const id = '0c1f7e1e-4f0e-4a57-9f3c-1d0a54a3c001'
const cloudId = '018f0000-0000-7000-8000-00000000000a'
let cloud: RecordedCloud
beforeAll(async () => {
  cloud = await createRecordedCloud()
})
afterAll(() => cloud.close())

it('an answer to an offer tells that Glance failed from that nothing was offered', async () => {
  const unused = async () => expect.fail('nobody asks for it')
  const images = createImages(
    { downloads: { offer: () => undefined } as never },
    {
      tenancy: { ...cloud.tenancy, join: unused, projectOfNamed: unused, namesOfAll: unused, cloudOf: unused },
      guard: createOutboundGuard({ allow: [], publicUrl: undefined }),
    },
  )
  cloud.replies[`GET /image/v2/images/${id}`] = () => ({
    json: { id, status: 'active', visibility: 'shared', owner: 'another', created_at: '2026-11-20T01:02:03Z', updated_at: '2026-11-20T01:02:03Z' },
  })
  cloud.replies[`GET /image/v2/images/${id}/members`] = () => ({ status: 500, json: { message: 'the database is away' } })
  await expect(images.answer(someActor(), cloudId, id, true)).rejects.toMatchObject({ kind: 'failed', service: 'image' })
  cloud.replies[`GET /image/v2/images/${id}/members`] = () => ({ status: 404, json: { message: 'No image found' } })
  await expect(images.answer(someActor(), cloudId, id, true)).rejects.toMatchObject({ refusal: 'computeNoOffer' })
})
