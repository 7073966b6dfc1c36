import type { ComputeImage } from '@zhisuan/contract/compute/image'
import type { ComputeNetwork } from '@zhisuan/contract/compute/network'
import type { ComputeVolume } from '@zhisuan/contract/compute/volume'
import * as format from '../../../kit/format.ts'
import type { Choice } from './CloudSelect.tsx'

const joined = (parts: readonly (string | null)[]): string => parts.filter((part) => part !== null && part !== '').join(' · ')

export const imageChoice = ({ id, name, distribution, size_bytes }: ComputeImage): Choice => ({
  id,
  name,
  note: joined([distribution, size_bytes === null ? null : format.bytes(size_bytes)]),
})
export const isUsable = ({ status }: ComputeImage): boolean => status === 'active'

export const networkChoice = ({ id, name, subnets }: ComputeNetwork): Choice => ({ id, name, note: joined(subnets.map(({ cidr }) => cidr)) })
/**
 * Whether instances of a project may be put into a network: its own, and everybody's. Networks that lead outside are
 * for routers, unless they are everybody's.
 * @param projectId null where it is not known: then the cloud judges
 */
export const isJoinable =
  (projectId: string | null) =>
  ({ shared, external, keystone_project_id: owner }: ComputeNetwork): boolean =>
    shared || (!external && (projectId === null || owner === projectId))

export const volumeChoice = ({ id, name, size_bytes, type }: ComputeVolume): Choice => ({ id, name, note: joined([format.bytes(size_bytes), type]) })
