import { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { EdgeReach } from '../edge/edge.reach.ts'
import { workOnNode } from '../edge/edge.work.ts'
import { updatePull, type PulledLayer } from './image.store.ts'

const pullInput = z.object({ edge_id: z.uuid(), image: z.string() })
/** How often people are told how far it is. */
const tellEveryMs = 1_000

export type ImageOperations = ReturnType<typeof createImageOperations>

export function createImageOperations(parts: { db: Db; reach: EdgeReach['reach'] }) {
  const { db, reach } = parts
  const pull: OperationDefinition<z.output<typeof pullInput>> = {
    kind: 'ecrm.edge.pullImage',
    resource_type: 'ecrm.imagePull',
    input: pullInput,
    steps: [
      {
        name: 'pull',
        reached: 'unseen',
        // Docker keeps the layers that it has: pulling once more goes on where it was.
        run: async ({ resource_id, input, signal }) => {
          await workOnNode(reach, input.edge_id, signal, async ({ docker }) => {
            const layers = new Map<string, PulledLayer>()
            const tell = () => updatePull(db, resource_id, { layers: JSON.stringify([...layers.values()]) })
            let told = 0
            for await (const { id, status, currentBytes, totalBytes } of docker.images.pull(input.image, { signal })) {
              // The first line is about the tag, the last ones about the whole.
              if (id === null || status.startsWith('Pulling from ')) continue
              const before = layers.get(id)
              layers.set(id, { id, status, current_bytes: currentBytes ?? before?.current_bytes ?? 0, total_bytes: totalBytes ?? before?.total_bytes ?? null })
              if (Date.now() - told < tellEveryMs) continue
              told = Date.now()
              await tell()
            }
            await tell()
          })
        },
      },
    ],
    ended: async (tx, { resource_id }, refusal) =>
      updatePull(tx, resource_id, { status: refusal === null ? 'succeeded' : 'failed', error: refusal?.message ?? null }),
  }
  return { pull }
}
