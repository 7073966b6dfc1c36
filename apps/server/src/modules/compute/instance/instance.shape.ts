import type { ComputeInstance } from '@zhisuan/contract/compute/instance'
import type { InterfaceAttachment, Server } from '@zhisuan/engines/openstack/compute'
import { isoOrNull } from '../../../platform/db/database.ts'

const mib = 2 ** 20
const gib = 2 ** 30

export const flavorOf = ({ flavor }: Pick<Server, 'flavor'>): ComputeInstance['flavor'] =>
  flavor && { name: flavor.name, vcpus: flavor.vcpus, memory_bytes: flavor.memoryMib * mib, disk_bytes: flavor.diskGib * gib }

/** @param everything whether who asks is of the platform: what Nova says of itself is its operators' */
export const shapeOf = (server: Server, everything: boolean, recycled = false): ComputeInstance => ({
  id: server.id,
  name: server.name,
  description: server.description,
  state: server.state,
  code: server.code,
  vm_state: everything ? server.vmState : null,
  task_state: everything ? server.taskState : null,
  image_id: server.imageId,
  flavor: flavorOf(server),
  addresses: server.addresses.map(({ network, address, version, type, mac }) => ({ network, address, version: version === 6 ? 6 : 4, type, mac })),
  volume_ids: server.volumeIds,
  security_groups: server.securityGroups,
  key_name: server.keyName,
  metadata: server.metadata,
  tags: server.tags,
  locked: server.locked,
  zone: server.zone,
  host: everything ? server.host : null,
  progress: Math.round(server.progress),
  fault: server.fault,
  keystone_project_id: server.projectId,
  recycled,
  created_at: isoOrNull(server.createdAt),
  updated_at: isoOrNull(server.updatedAt),
  launched_at: isoOrNull(server.launchedAt),
})

export const interfaceShape = ({ portId, networkId, mac, status, addresses }: InterfaceAttachment) => ({
  port_id: portId,
  network_id: networkId,
  mac,
  status,
  addresses: addresses.map(({ address, subnetId }) => ({ address, subnet_id: subnetId })),
})
