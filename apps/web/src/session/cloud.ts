import { useSyncExternalStore } from 'react'
import { clouds, type CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { errors } from '@zhisuan/contract/errors'
import { useCall } from '../api/hooks.ts'
import { queryClient } from '../api/queryClient.ts'
import { cloudOfAddress, onCloudChoice, readCloudChoice, writeCloudChoice } from './cloudChoice.ts'
import { useMayCall } from './user.ts'

/** The chosen cloud, or the first where the choice is no longer in the list. What an address names is that one or none: a thing is on no other. */
const pickCloud = <T extends Pick<CloudBasic, 'cloud_id'>>(list: readonly T[], choice: string | null): T | null =>
  list.find((cloud) => cloud.cloud_id === choice) ?? (cloudOfAddress() === null ? (list[0] ?? null) : null)

/** How full a cloud is changes slowly; the switcher need not know it to the second. */
const cloudsRefreshMs = 30_000

/** All clouds that the person may use, and the chosen one; null while they load and where there is none. */
export function useClouds(): { readonly list: readonly CloudBasic[]; readonly selected: CloudBasic | null; readonly loading: boolean } {
  const may = useMayCall(clouds.basicInfo)
  const choice = useSyncExternalStore(onCloudChoice, readCloudChoice)
  const { data, isPending } = useCall(clouds.basicInfo, {}, { enabled: may, silent: true, refreshMs: cloudsRefreshMs })
  const list = data?.clouds ?? []
  return { list, selected: pickCloud(list, choice), loading: may && isPending }
}

/** The cloud of a thing; null while it is not known, or is none that the person may use. */
export function useCloud(id: string | undefined): CloudBasic | null {
  return useClouds().list.find(({ cloud_id }) => cloud_id === id) ?? null
}

/** The groups of pages that are each about one kind of cloud. */
export type CloudFamily = 'nextStack' | 'compute'
export const familyOf = (cloud: Pick<CloudBasic, 'product'>): CloudFamily => (cloud.product === 'nextstack' ? 'nextStack' : 'compute')

/** The whole view is read anew: what belonged to the former cloud must not be seen under the new one's name. */
export async function chooseCloud(cloud: Pick<CloudBasic, 'cloud_id'>): Promise<void> {
  writeCloudChoice(cloud.cloud_id)
  await queryClient.resetQueries({ predicate: ({ queryKey: [call] }) => /^(nextstack|compute)\./.test(String(call)) })
}

/** Why a change is refused on the cloud as a whole; null where it is not, and where it is not known. */
export function cloudRefuses(cloud: Pick<CloudBasic, 'status'> | null): string | null {
  if (cloud?.status === 'maintenance') return errors.cloudMaintenance.text
  return cloud?.status === 'offline' ? errors.cloudOffline.text : null
}
