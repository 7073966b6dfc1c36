import { sizeText } from '@zhisuan/contract/resource'
import type { ShareLimits } from '@zhisuan/contract/ecrm/edge'
import { isShared } from '@zhisuan/contract/ecrm/share'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { StandingService } from '../../bill/arrears/standing.service.ts'
import * as store from './container.store.ts'

interface NodeShareTable {
  /** What has it: a stack. */
  holder: string
  edge_id: string
  bp_id: string | null
  containers: number
  cpu: number
  memory_bytes: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    node_shares: NodeShareTable
  }
}

export const shareMigrations: Migrations = {
  '20261128_87_node_shares': migration(`
    create table node_shares (
      holder uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      bp_id uuid,
      containers integer not null,
      cpu double precision not null,
      memory_bytes double precision not null
    );
    create index node_shares_edge on node_shares (edge_id, bp_id);
  `),
}

/** So much of a node that an organisation shares with others. */
export interface NodeShare {
  readonly containers: number
  readonly cpu: number
  readonly memory_bytes: number
}
interface SharedNode {
  readonly id: string
  readonly name: string
  readonly bp_id: string | null
  readonly share_limits: ShareLimits | null
}

/**
 * Under the lock of the node's ports: many may come at once.
 * @param except whose share is not counted: of what is to have it
 * @throws Refusal 95123 where the organisation would have more of the node than it may
 */
export async function refuseBeyond(
  on: Sql,
  bpId: string | null,
  node: Pick<SharedNode, 'id' | 'name' | 'share_limits'>,
  wanted: NodeShare,
  except: string | null,
): Promise<void> {
  if (node.share_limits === null) return
  const { containers, cpu_cores, memory_bytes } = node.share_limits
  const has = await store.shareOf(on, node.id, bpId, except)
  if (has.containers + wanted.containers <= containers && has.cpu + wanted.cpu <= cpu_cores + 1e-9 && has.memory + wanted.memory_bytes <= memory_bytes) return
  throw new Refusal('sharedNodeFull', { values: { node: node.name, containers, cpu: cpu_cores, memory: sizeText(memory_bytes) } })
}

/** Keeps so much of a node for something, in the transaction in which that comes to be; on a node of one's own nothing is counted. */
export async function takeShare(
  tx: Tx,
  { holder, bpId, node }: { readonly holder: string; readonly bpId: string | null; readonly node: SharedNode },
  wanted: NodeShare,
  mayMake: StandingService['mayMake'],
): Promise<void> {
  if (!isShared(bpId, node)) return releaseShare(tx, holder)
  await store.holdPorts(tx, [node.id])
  await refuseBeyond(tx, bpId, node, wanted, holder)
  const has = await tx.selectFrom('node_shares').select(['cpu', 'memory_bytes']).where('holder', '=', holder).executeTakeFirst()
  // It costs by the hour.
  if (wanted.cpu > (has?.cpu ?? 0) || wanted.memory_bytes > (has?.memory_bytes ?? 0)) await mayMake(tx, bpId)
  const row = { edge_id: node.id, bp_id: bpId, ...wanted }
  await tx
    .insertInto('node_shares')
    .values({ holder, ...row })
    .onConflict((on) => on.column('holder').doUpdateSet(row))
    .execute()
}

export const releaseShare = async (tx: Tx, holder: string): Promise<void> => {
  await tx.deleteFrom('node_shares').where('holder', '=', holder).execute()
}
