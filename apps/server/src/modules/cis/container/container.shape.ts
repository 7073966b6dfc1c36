import { containerSpec, type Container, type Deployment } from '@zhisuan/contract/cis/container'
import { errors } from '@zhisuan/contract/errors'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { readable, type Secrets } from '../../../platform/secrets.ts'
import { openSpec } from './container.seal.ts'
import { statusCodeOf } from './container.state.ts'
import type { ShownContainer } from './container.store.ts'
import type { ShownDeployment } from './deployment.store.ts'

/** A container as payloads carry it. */
export const shape = (row: ShownContainer): Container => ({
  id: row.id,
  name: row.name,
  bp_id: row.bp_id,
  deployment: row.deployment,
  service: row.service_id === null ? null : { id: row.service_id, name: row.service_name ?? '' },
  edge: row.edge,
  container_id: row.docker_id,
  status: row.shown_status,
  status_code: statusCodeOf(row.shown_status, row.service_id !== null),
  health: row.shown_status === 'running' ? row.health : null,
  exit_code: row.exit_code,
  image: row.image,
  ports: row.ports,
  // What was done to it says more than how it ended.
  error: row.error_text ?? (row.out_of_memory && row.shown_status !== 'running' ? errors.containerOutOfMemory.text : null),
  restart_count: row.restart_count,
  started_at: isoOrNull(row.started_at),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
})

/** Of a deployment, with its spec opened. */
export const shapeDeployment = (secrets: Secrets, row: ShownDeployment): Deployment => ({
  id: row.id,
  name: row.name,
  description: row.description,
  bp_id: row.bp_id,
  image: row.image,
  // Of one that cannot be read, what the row says of it.
  spec: readable(() => openSpec(secrets, row), null) ?? containerSpec.parse({ image: row.image }),
  placement: { edge_ids: row.placement.edge_ids, labels: row.placement.labels },
  instance_count: row.instances,
  running_count: row.running,
  status: deploymentStatus(row),
  lost_count: row.lost,
  error: row.error_text,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
})

function deploymentStatus({ instances, running, creating, deleting, failed, lost, unknown }: ShownDeployment): Deployment['status'] {
  if (deleting > 0) return 'deleting'
  if (creating > 0) return 'deploying'
  if (running === instances) return 'running'
  if (failed === instances) return 'error'
  if (lost === instances) return 'lost'
  if (running > 0 || failed > 0 || lost > 0) return 'degraded'
  return unknown > 0 ? 'unknown' : 'stopped'
}
