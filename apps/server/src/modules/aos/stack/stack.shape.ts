import type { Service, Stack, StackDeployment } from '@zhisuan/contract/aos/stack'
import { iso } from '../../../platform/db/database.ts'
import type { Secrets } from '../../../platform/secrets.ts'
import type { DeploymentRow } from './deployment.store.ts'
import type { ShownService } from './service.store.ts'
import { deploymentStatus, serviceStatus } from './stack.state.ts'
import { openSaid, type ShownStack } from './stack.store.ts'

export const shape = (secrets: Secrets, row: ShownStack): Stack => {
  const said = openSaid(secrets, row)
  return {
    id: row.id,
    name: row.name,
    bp_id: row.bp_id,
    deployment: row.deployment,
    edge: row.edge,
    project: row.project,
    status: row.shown_status,
    revision: row.revision,
    deployed_revision: row.deployed_revision,
    revision_count: row.revision_count,
    service_count: row.service_count,
    running_count: row.running_services,
    error: said.error_text,
    output: said.output,
    template: row.template,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }
}

export const shapeService = (stack: ShownStack, row: ShownService): Service => ({
  id: row.id,
  name: row.name,
  stack: { id: stack.id, name: stack.name },
  edge: stack.edge,
  image: row.image,
  replicas: row.replicas,
  running_count: stack.edge.online ? row.running : 0,
  ports: row.seen_ports.length > 0 ? row.seen_ports : row.ports,
  status: serviceStatus(stack, row),
  created_at: iso(row.created_at),
})

/** @param own all its stacks */
export const shapeDeployment = (row: DeploymentRow, own: readonly ShownStack[]): StackDeployment => ({
  id: row.id,
  name: row.name,
  description: row.description,
  bp_id: row.bp_id,
  template: row.template,
  stack_count: own.length,
  running_count: own.filter(({ shown_status }) => shown_status === 'running').length,
  status: deploymentStatus(own.map(({ shown_status }) => shown_status)),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
})
