import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { z } from 'zod'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'

/** Nova's key pairs belong to our one user there, so they are told apart by the ids of ours. */
export const keyNameOf = (id: string): string => `zs-${id}`
const isOurs = (name: string): boolean => /^zs-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)
const attempts = 3

async function deleteAll({ compute: { keyPairs } }: OpenStack, signal?: AbortSignal): Promise<void> {
  for (const { name } of await all(keyPairs.list(signal))) if (isOurs(name)) await keyPairs.delete(name, signal).catch(unlessGone)
}
const unlessGone = (error: unknown): void => {
  if (!isEngineError(error, 'not_found')) throw error
}

/**
 * Makes something with a key, which Nova has only for as long as that takes: instances keep a copy. Where somebody else
 * who was done with the same key took it away just then, it is put there once more.
 */
export async function withKey<T>(cloud: OpenStack, key: { readonly id: string; readonly line: string }, make: (name: string) => Promise<T>): Promise<T> {
  const { keyPairs } = cloud.compute
  const name = keyNameOf(key.id)
  const put = async () => {
    try {
      await keyPairs.create({ name, publicKey: key.line })
    } catch (error) {
      // The same one: public halves do not change.
      if (!isEngineError(error, 'conflict')) throw error
    }
  }
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await put()
      } catch (error) {
        // Our user has as many as they may: those that were left make room.
        if (!isEngineError(error, 'exhausted')) throw error
        await deleteAll(cloud)
        await put()
      }
      try {
        return await make(name)
      } catch (error) {
        if (attempt === attempts || !isEngineError(error, 'invalid') || !/key_name/i.test(error.message)) throw error
      }
    }
  } finally {
    // What stays all the same is swept.
    await keyPairs.delete(name).catch(() => undefined)
  }
}

/** Each hour: what a server that was killed left, or a Nova that failed. Whoever needs one meanwhile puts it there once more. */
export const sweepKeysJob = defineJob({ name: 'compute.keyPairs.sweep', input: z.object({}), concurrency: 1, retries: 0, schedule: '23 * * * *' })

/** Takes our keys away from clouds, which need none once an instance is made. */
export function createKeySweep({ clouds, log }: Pick<Platform, 'log'> & { clouds: Pick<CloudService, 'all' | 'openStack'> }) {
  return {
    job: sweepKeysJob,
    jobHandler: handleJob(sweepKeysJob, async (_, { signal }) => {
      for (const { id, product, status } of await clouds.all()) {
        if (product === 'nextstack' || status === 'offline') continue
        try {
          await deleteAll(await clouds.openStack(id), signal)
        } catch (error) {
          log.info({ err: error, cloud: id }, 'key pairs that nobody needs could not be removed')
        }
      }
    }),
  }
}
