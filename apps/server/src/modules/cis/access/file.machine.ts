import { posix } from 'node:path'
import type { Docker } from '@zhisuan/engines/docker/types'
import { isEngineError } from '@zhisuan/engines/errors'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import type { WorkOnNode } from '../../ecrm/edge/edge.work.ts'
import type { Machine, MachinePlace, Machines } from '../../files/machine/machine.ts'
import type { ContainerService } from '../container/container.service.ts'
import { itemsOf, treeArchive } from '../container/container.tar.ts'
import { placeOf } from './file.place.ts'

const asked = { env: { LC_ALL: 'C' }, user: '0:0' } as const

/** Containers, as what files go to and come from. */
export function createContainerMachines({
  containers,
  edges,
  refusedByNode,
  workOnNode,
}: {
  containers: Pick<ContainerService, 'find' | 'reached'>
  edges: Pick<EdgeReach, 'reach'>
  refusedByNode: RefusedByNode
  workOnNode: WorkOnNode
}): Machines {
  const machineOf = (name: string, docker: Docker, id: string, running: boolean): Machine => {
    /** Whether it ended well; false too where there is no such program. */
    const done = async (command: string[], signal: AbortSignal): Promise<boolean> => {
      try {
        return (await docker.execs.run(id, { ...asked, command }, { signal })).exitCode === 0
      } catch (error) {
        if (isEngineError(error, 'unreachable', 'unanswered', 'cancelled')) throw error
        return false
      }
    }
    return {
      name,
      async stat(path): Promise<MachinePlace | null> {
        const seen = await placeOf(docker, id, path)
        return seen === null ? null : { path: seen.path, kind: seen.directory ? 'folder' : isFile(seen.mode) ? 'file' : 'other', size_bytes: seen.sizeBytes }
      },
      read: async function* (path, signal) {
        yield* itemsOf(await docker.containers.get(id, path, { signal }))
      },
      async write({ directory, name: called, part, left }, items, signal) {
        // Only what runs can see something half done, and can call it by its name at once.
        const renames = running && (await done(['mv', '--help'], signal))
        const put = (as: string): Promise<void> => docker.containers.put(id, directory, treeArchive(as, items), { signal })
        if (!renames) return put(called)
        const at = posix.join(directory, part)
        try {
          await done(['rm', '-rf', '--', ...left.map((one) => posix.join(directory, one))], signal)
          await put(part)
          if (await done(['mv', '-f', '--', at, posix.join(directory, called)], signal)) return
        } catch (error) {
          await done(['rm', '-rf', '--', at], AbortSignal.timeout(10_000)).catch(() => false)
          throw error
        }
        // Its directory lets nobody call anything otherwise, such as one that is mounted to be read only by root.
        await done(['rm', '-rf', '--', at], signal)
        await put(called)
      },
    }
  }

  return {
    async reach(scope, id) {
      const { row, docker_id, node } = await containers.reached(scope, id, 'files')
      const machine = machineOf(row.name, node.docker, docker_id, row.shown_status === 'running')
      return {
        ...machine,
        stat: (path) =>
          machine.stat(path).catch((error: unknown) => {
            throw refusedByNode(error, node.row)
          }),
      }
    },
    async work(id, signal, act) {
      const row = await containers.find(platformScope, id)
      return workOnNode(edges.reach, row.edge_id, signal, async ({ docker }) => {
        const now = await containers.reached(platformScope, id, 'files')
        return act(machineOf(now.row.name, docker, now.docker_id, now.row.shown_status === 'running'))
      })
    },
  }
}

/** Of Go's modes the bits that say what it is: a directory, a link, a device, a pipe, a socket, and what else is no file. */
const otherBits = [31, 27, 26, 25, 24, 21, 19]
const isFile = (mode: number): boolean => otherBits.every((bit) => Math.floor(mode / 2 ** bit) % 2 === 0)
