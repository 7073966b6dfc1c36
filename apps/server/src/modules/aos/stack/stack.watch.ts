import type { Docker } from '@zhisuan/engines/docker/types'
import type { Db } from '../../../platform/db/database.ts'
import type { ContainerObserver } from '../../cis/container/container.watch.ts'
import type { ServiceContainers } from '../../cis/container/service.containers.ts'
import { serviceRowsOf } from './service.store.ts'
import * as store from './stack.store.ts'
import type { StackRow } from './stack.store.ts'

/** Compose writes these on whatever it makes. */
export const projectLabel = 'com.docker.compose.project'
export const serviceLabel = 'com.docker.compose.service'
/** All projects of ours begin so. */
export const projectPrefix = 'zs-'

/** Two that look at once see the same a moment later. */
const looksMax = 3

export type StackWatch = ReturnType<typeof createStackWatch>

/** Keeps what is known of the containers of stacks true to Docker. */
export function createStackWatch({ db, containers }: { db: Db; containers: Pick<ServiceContainers, 'see' | 'record'> }) {
  const lookAt = async (docker: Docker, row: StackRow, signal: AbortSignal): Promise<boolean> => {
    const listed = await docker.containers.list({ all: true, labels: [`${projectLabel}=${row.project}`], signal })
    const seen = await containers.see(docker, listed, signal)
    return db.transaction().execute(async (tx) => {
      if (!(await store.takeLook(tx, row))) return false
      for (const service of await serviceRowsOf(tx, row.id)) {
        const own = listed.filter(({ labels }) => labels[serviceLabel] === service.name).flatMap(({ id }) => seen.get(id) ?? [])
        await containers.record(
          tx,
          { ...service, edge_id: row.edge_id, bp_id: row.bp_id, created_by: row.created_by, created_by_name: row.created_by_name },
          own,
        )
      }
      return true
    })
  }

  /** Looks at one, and again where somebody else looked meanwhile. */
  const look = async (docker: Docker, id: string, signal: AbortSignal): Promise<void> => {
    for (let left = looksMax; left > 0; left--) {
      const row = await store.getStackRow(db, id)
      if (row === undefined || (await lookAt(docker, row, signal))) return
    }
  }

  const observer: ContainerObserver = {
    subject: (labels) => (labels[projectLabel]?.startsWith(projectPrefix) === true ? (labels[projectLabel] ?? null) : null),
    nodes: store.nodesWithStacks,
    async look({ edge_id, docker, subjects, signal }) {
      for (const { id } of await store.stacksOn(db, edge_id, subjects)) await look(docker, id, signal)
    },
  }
  return { look, observer }
}
