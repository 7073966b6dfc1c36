import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { paths } from '../paths.ts'
import type { Route } from '../routes.ts'
import { familyOf } from '../session/cloud.ts'
import { isCloudGroup } from './menu.ts'

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
