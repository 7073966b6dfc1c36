import type { Call } from '@zhisuan/contract/define'
import { registryProjects, repositories, tagBin, type RegistryProject } from '@zhisuan/contract/ims/project'
import { registries, type RegistryBasic, type RegistryStatus } from '@zhisuan/contract/ims/registry'
import type { StatusTone } from '../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `status` in the messages. */
export const registryTones: Readonly<Record<RegistryStatus, StatusTone>> = {
  installing: 'busy',
  active: 'good',
  deactive: 'rest',
  changing: 'busy',
  removing: 'busy',
  error: 'bad',
}
export const healthTones: Readonly<Record<RegistryBasic['health'], StatusTone>> = {
  unknown: 'rest',
  reachable: 'good',
  degraded: 'warning',
  unreachable: 'bad',
  unauthorised: 'bad',
}

/** What is no longer true after anything was done to a registry, a project, or what is in one. */
export const invalidatedByRegistry: readonly Call[] = [registries.list, registries.get, registries.regions]
export const invalidatedByProject: readonly Call[] = [registryProjects.list, registries.list]
export const invalidatedByRepository: readonly Call[] = [
  repositories.list,
  repositories.get,
  repositories.tags,
  repositories.all,
  tagBin.list,
  ...invalidatedByProject,
]

/** Whether somebody may change a project, or only pull from it. */
export const isOwn = (project: Pick<RegistryProject, 'bp_id'>, user: { readonly platform: boolean; readonly bp_id: string | null }): boolean =>
  user.platform || project.bp_id === user.bp_id

/** Registries as a list of choices has them: by their regions, those of none first. */
export const registryOptions = (
  regions: readonly { readonly region: { readonly name: string } | null; readonly registries: readonly RegistryBasic[] }[],
  everywhere: string,
) =>
  regions.map(({ region, registries: here }) => ({
    label: region?.name ?? everywhere,
    options: here.map(({ id, name, address }) => ({ value: id, label: name === address ? name : `${name}（${address}）` })),
  }))
