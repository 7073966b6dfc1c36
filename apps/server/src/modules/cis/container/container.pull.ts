import type { Docker, RegistryAuth } from '@zhisuan/engines/docker/types'
import { isEngineError } from '@zhisuan/engines/errors'
import { Refusal } from '../../../platform/errors.ts'
import type { ImageAuth, ImageUse } from '../../ims/imageAuth.ts'

interface At {
  readonly docker: Docker
  readonly node: { readonly name: string; readonly bp_id: string | null }
  readonly signal: AbortSignal
}

export type Pulling = ReturnType<typeof createPulling>

/** Images for what runs on nodes. What lets a pull in is in the request for it, and nowhere on the node. */
export function createPulling(imageAuth: ImageAuth, imageUse: ImageUse) {
  const isThere = async ({ docker, signal }: At, image: string): Promise<boolean> => {
    try {
      await docker.images.inspect(image, { signal })
      return true
    } catch (error) {
      if (!isEngineError(error, 'not_found')) throw error
      return false
    }
  }
  const pull = async ({ docker, node, signal }: At, image: string, auth: RegistryAuth | undefined): Promise<void> => {
    try {
      for await (const _ of docker.images.pull(image, { signal, ...(auth !== undefined && { auth }) }));
    } catch (error) {
      // Whichever way its registry refuses or cannot be reached: here it is not, and cannot be had.
      if (isEngineError(error, 'not_found', 'unauthorized', 'failed'))
        throw /no space left/i.test(error.message)
          ? error
          : new Refusal('containerImageMissing', { values: { image, node: node.name }, detail: error.message.slice(0, 500), cause: error })
      throw error
    }
  }
  const missing = ({ node }: At, image: string): Refusal => new Refusal('containerImageMissing', { values: { image, node: node.name } })

  /**
   * What others brought to a node that is not one's own is not there: neither by its name nor by its id.
   * @returns whether it is to be asked for where it comes from, although it lies there
   * @throws Refusal 95108
   */
  const refuseOthers = async (at: At, image: string, bpId: string | null): Promise<boolean> => {
    if (bpId === null || at.node.bp_id === bpId) return false
    const use = await imageUse(image, bpId)
    if (use === 'none') throw missing(at, image)
    // An id, or the beginning of one, is no name that somebody may pull.
    if (/^(sha256:)?[0-9a-f]{1,64}$/.test(image) && (await isThere(at, image))) {
      const { id, tags } = await at.docker.images.inspect(image, { signal: at.signal })
      const isName = tags.some((tag) => tag === image || tag === `${image}:latest`)
      if (!isName && (id === image || id.startsWith(`sha256:${image}`))) throw missing(at, image)
    }
    return use === 'anew'
  }

  return {
    refuseOthers,

    /** @param bpId whose it is to be for. @throws Refusal 95108 where it cannot be had */
    async pullMissing(at: At, image: string, bpId: string | null): Promise<void> {
      const anew = await refuseOthers(at, image, bpId)
      if (anew || !(await isThere(at, image))) await pull(at, image, await imageAuth(image, bpId, at.node.bp_id))
    },

    /**
     * What a program of the node could not pull by itself, as it knows no account of ours.
     * @param anew also where it is there: its name may lead to another by now
     * @returns whether it is one of these. @throws Refusal 95108 where it cannot be had
     */
    async pullWithAccount(at: At, image: string, bpId: string | null, anew: boolean): Promise<boolean> {
      const others = await refuseOthers(at, image, bpId)
      const auth = await imageAuth(image, bpId, at.node.bp_id)
      if (auth === undefined && !others) return false
      if (anew || others || !(await isThere(at, image))) await pull(at, image, auth)
      return true
    },
  }
}
