import { posix } from 'node:path'
import type { Docker, PathStat } from '@zhisuan/engines/docker/types'
import { isEngineError } from '@zhisuan/engines/errors'

/** So many links are followed, one after the other. */
const linksMax = 8

/** What is at a path of a container, behind whatever links lead to it; null where nothing is. */
export async function placeOf(docker: Docker, id: string, path: string): Promise<(PathStat & { readonly path: string }) | null> {
  let at = posix.normalize(path)
  for (let followed = 0; followed <= linksMax; followed++) {
    const seen = await docker.containers.stat(id, at).catch((error: unknown) => {
      if (isEngineError(error, 'not_found')) return null
      throw error
    })
    if (seen === null) return null
    if (seen.linkTarget === '') return { ...seen, path: at }
    at = posix.resolve(posix.dirname(at), seen.linkTarget)
  }
  return null
}
