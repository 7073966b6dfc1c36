import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { edgeCan, upgradeStatuses, type edgeUpgrades } from '@zhisuan/contract/ecrm/edge'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { lockEdges } from '../edge/edge.store.ts'
import type { AgentFiles } from './agent.files.ts'
import type { UpgradeOperations } from './upgrade.operations.ts'
import * as store from './upgrade.store.ts'

type Calls = typeof edgeUpgrades

/** It is not to be begun anew while it goes on. */
const running: readonly number[] = [upgradeStatuses.buildDone, upgradeStatuses.upgrading, upgradeStatuses.autoConfirm, upgradeStatuses.rollingBack]

export type UpgradeService = ReturnType<typeof createUpgrades>

export function createUpgrades(platform: Pick<Platform, 'db' | 'operations'>, parts: { files: AgentFiles; operations: UpgradeOperations }) {
  const { db } = platform
  return {
    async versions(): Promise<ResponseOf<Calls['versions']>> {
      return {
        items: (await parts.files.list()).map(({ version, sha256, sizeBytes, releasedAt }) => ({
          version,
          sha256,
          size_bytes: sizeBytes,
          released_at: iso(releasedAt),
        })),
      }
    },

    /** A former version is one like others: so a node is set back. */
    async begin(actor: Actor, id: string, { version, confirm }: BodyOf<Calls['upgrade']>): Promise<void> {
      const bundle = await parts.files.get(version)
      await db.transaction().execute(async (tx) => {
        const row = found((await lockEdges(tx, scopeOf(actor), [id]))[0])
        if (bundle === null) throw new Refusal('agentVersionUnknown', { field: 'version' })
        const before = await store.getUpgrade(tx, id)
        if (before !== undefined && running.includes(before.status)) throw new Refusal('upgradeRunning')
        if (!(edgeCan.upgrade as readonly string[]).includes(row.status)) throw new Refusal('edgeOffline', { values: { name: row.name } })
        if (row.agent_version === version) throw new Refusal('agentVersionSame', { field: 'version' })
        await store.putUpgrade(tx, { edge_id: id, status: upgradeStatuses.buildDone, from_version: row.agent_version ?? '0.0.0', to_version: version, confirm })
        await platform.operations.begin(tx, parts.operations.upgrade, { resource_id: id, bp_id: row.bp_id, actor, input: { version, sha256: bundle.sha256 } })
      })
    },

    /** Of one that waits for that. */
    async confirm(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        found((await lockEdges(tx, scopeOf(actor), [id]))[0])
        const row = await store.getUpgrade(tx, id)
        if (row?.status !== upgradeStatuses.manualConfirm) throw new Refusal('stateForbids')
        await store.updateUpgrade(tx, id, { status: upgradeStatuses.complete })
      })
    },
  }
}
