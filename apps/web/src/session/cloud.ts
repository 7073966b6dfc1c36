import { useSyncExternalStore } from 'react'
import { clouds, type CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { useCall } from '../api/hooks.ts'
import { useMayCall } from './user.ts'

/** The one thing of local storage that outlives a session: section 4. */
export const cloudChoiceKey = 'zhisuan.cloud'

const listeners = new Set<() => void>()
const readChoice = (): string | null => {
  try {
    return localStorage.getItem(cloudChoiceKey)
  } catch {
    return null
  }
}

export function chooseCloud(cloudId: string): void {
  try {
    localStorage.setItem(cloudChoiceKey, cloudId)
  } catch {
    // Without storage the first cloud counts.
  }
  for (const tell of listeners) tell()
}

const subscribe = (tell: () => void): (() => void) => {
  listeners.add(tell)
  addEventListener('storage', tell)
  return () => {
    listeners.delete(tell)
    removeEventListener('storage', tell)
  }
}

/** The chosen cloud, or the first where the choice is no longer in the list. */
export const pickCloud = (list: readonly CloudBasic[], choice: string | null): CloudBasic | null =>
  list.find((cloud) => cloud.cloud_id === choice) ?? list[0] ?? null

/** All clouds that the person may use, and the chosen one; null while they load and where there is none. */
export function useClouds(): { readonly list: readonly CloudBasic[]; readonly selected: CloudBasic | null; readonly loading: boolean } {
  const may = useMayCall(clouds.basicInfo)
  const choice = useSyncExternalStore(subscribe, readChoice)
  const { data, isPending } = useCall(clouds.basicInfo, {}, { enabled: may, silent: true, refreshMs: 30_000 })
  const list = data?.clouds ?? []
  return { list, selected: pickCloud(list, choice), loading: may && isPending }
}

export const useSelectedCloud = (): CloudBasic | null => useClouds().selected
