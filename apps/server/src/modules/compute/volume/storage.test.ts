import { expect, it } from 'vitest'
import { someActor } from '../../../testing/actor.ts'
import type { Place } from '../tenancy/tenancy.service.ts'
import { mayMakeBeside } from './storage.ts'

it('asks whether an organisation may make something only for what lies in its own projects', async () => {
  const asked: (string | null)[] = []
  const placeForMaking = async (_actor: unknown, _cloudId: string, projectId: string | null): Promise<Place> => {
    asked.push(projectId)
    return { keystoneId: 'k', name: '', owner: null, cloud: {} as never }
  }
  const beside = (bp_id: string | null, owner: Place['owner'] | 'nobody') =>
    mayMakeBeside({ placeForMaking } as never, someActor({ kind: 1, bp_id }), 'c', {
      place: owner === 'nobody' ? null : { keystoneId: 'k', name: '', owner, cloud: {} as never },
    })
  await beside('own', { bp_id: 'own', project_id: 'p' })
  // Platform-level people may have an organisation too.
  await beside('own', { bp_id: 'other', project_id: 'q' })
  await beside('own', 'nobody')
  await beside(null, { bp_id: 'other', project_id: 'q' })
  expect(asked).toEqual(['p'])
})
