import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { queryClient } from '../api/queryClient.ts'
import { paths } from '../paths.ts'
import type { Route } from '../routes.ts'
import { writeCloudChoice } from '../session/cloudChoice.ts'
import { isCloudGroup } from './menu.ts'

/** The groups of pages that are each about one kind of cloud. */
export type CloudFamily = 'nextStack' | 'compute'
export const familyOf = (cloud: Pick<CloudBasic, 'product'>): CloudFamily => (cloud.product === 'nextstack' ? 'nextStack' : 'compute')

/**
 * Where choosing another cloud leads from a page: to the instances of the other family where the
 * product is of another; to the list where the page is about one thing of the former cloud; null to stay.
 */
export function pathAfterCloudChange(route: Pick<Route, 'group' | 'kind' | 'parent'>, cloud: Pick<CloudBasic, 'product'>): string | null {
  if (!isCloudGroup(route.group)) return null
  const family = familyOf(cloud)
  if (family !== route.group) return family === 'compute' ? paths.compute.instance.list() : paths.nextstack.vm.list()
  return route.kind === 'hidden' ? (route.parent ?? null) : null
}

/** The whole view is read anew: what belonged to the former cloud must not be seen under the new one's name. */
export async function chooseCloud(cloud: Pick<CloudBasic, 'cloud_id'>): Promise<void> {
  writeCloudChoice(cloud.cloud_id)
  await queryClient.resetQueries({ predicate: ({ queryKey: [call] }) => /^(nextstack|compute)\./.test(String(call)) })
}
