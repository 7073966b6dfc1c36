import { setTimeout as sleep } from 'node:timers/promises'
import { agentPaths, nodeFacts } from '@zhisuan/contract/agent/node'
import { upgradeStatuses } from '@zhisuan/contract/ecrm/edge'
import { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { EdgeReach } from '../edge/edge.reach.ts'
import { workOnNode } from '../edge/edge.work.ts'
import * as store from './upgrade.store.ts'

const upgradeInput = z.object({ version: z.string(), sha256: z.string() })
type Input = z.output<typeof upgradeInput>

const lookEveryMs = 200
/** Fetching is over by then: the agent has answered. It ends its work, and the new version is tried for a minute. */
const comeMs = 150_000
/** After that it is on its way back. */
const backMs = 60_000
/** The former version has come back for good, not for a moment. */
const settledMs = 3_000

export type UpgradeOperations = ReturnType<typeof createUpgradeOperations>

/** The agent changes over and goes back by itself; here it is watched, and written down what became of it. */
export function createUpgradeOperations(parts: { db: Db; reach: EdgeReach }) {
  const { db, reach } = parts

  /** @throws Refusal where the new version did not come */
  const watch = async (edgeId: string, signal: AbortSignal): Promise<void> => {
    const row = await store.getUpgrade(db, edgeId)
    const ordered = row?.ordered_at?.getTime() ?? Date.now()
    let toldBack = false
    for (;;) {
      const tunnel = reach.connected(edgeId)
      if (tunnel?.version === row?.to_version) return
      const now = Date.now()
      const isBack = tunnel !== null && tunnel.since.getTime() > ordered
      if (!toldBack && (isBack || now - ordered > comeMs)) {
        await store.updateUpgrade(db, edgeId, { status: upgradeStatuses.rollingBack })
        toldBack = true
      }
      if (isBack && now - tunnel.since.getTime() > settledMs) throw new Refusal('upgradeRolledBack', { values: { version: row?.from_version ?? '' } })
      if (now - ordered > comeMs + backMs) throw new Refusal('upgradeLost')
      await sleep(lookEveryMs, undefined, { signal })
    }
  }

  const upgrade: OperationDefinition<Input> = {
    kind: 'ecrm.edge.upgrade',
    input: upgradeInput,
    steps: [
      {
        name: 'order',
        reached: 'looks',
        run: async ({ resource_id, input, signal }) => {
          await store.updateUpgrade(db, resource_id, { status: upgradeStatuses.upgrading })
          // Told once more, an agent of that version does nothing.
          await workOnNode(reach.reach, resource_id, signal, async ({ tunnel }) => {
            if (tunnel.version === input.version) return
            await tunnel.json(z.unknown(), {
              method: 'POST',
              path: agentPaths.upgrade,
              body: { version: input.version, sha256: input.sha256, path: bundlePath(input.version) },
              signal,
              timeoutMs: 330_000,
            })
          })
          await store.updateUpgrade(db, resource_id, { ordered_at: new Date() })
        },
      },
      { name: 'watch', reached: 'looks', run: async ({ resource_id, signal }) => watch(resource_id, signal) },
      {
        name: 'settle',
        reached: 'looks',
        run: async ({ resource_id, signal }) => {
          const row = await store.getUpgrade(db, resource_id)
          if (row?.confirm === 'auto') await store.updateUpgrade(db, resource_id, { status: upgradeStatuses.autoConfirm })
          // It came; does it answer as well?
          await workOnNode(reach.reach, resource_id, signal, ({ tunnel }) => tunnel.json(nodeFacts, { path: agentPaths.facts, signal }))
        },
      },
    ],
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal !== null) return store.updateUpgrade(tx, resource_id, { status: upgradeStatuses.failed, error: refusal.message })
      // Somebody is asked only when there is nothing left to go wrong.
      const row = await store.getUpgrade(tx, resource_id)
      await store.updateUpgrade(tx, resource_id, { status: row?.confirm === 'manual' ? upgradeStatuses.manualConfirm : upgradeStatuses.complete })
    },
  }
  return { upgrade }
}

const bundlePath = (version: string): string => `/agent/${version}/agent.mjs`
