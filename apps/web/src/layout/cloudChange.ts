import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { paths } from '../paths.ts'
import type { Route } from '../routes.ts'
import { familyOf } from '../session/cloud.ts'
import { isCloudGroup } from './menu.ts'

/**
 * Where choosing another cloud leads from a page: to the instances where the product is another one; to the list where
 * the page is about one thing of the former cloud; null to stay.
 */
export function pathAfterCloudChange(
  route: Pick<Route, 'path' | 'group' | 'kind' | 'parent'>,
  former: Pick<CloudBasic, 'product'>,
  cloud: Pick<CloudBasic, 'product'>,
): string | null {
  if (!isCloudGroup(route.group)) return null
  const family = familyOf(cloud)
  // Without the former cloud's name.
  const instances = family === 'compute' ? paths.compute.instance.list.template : paths.nextstack.vm.list.template
  if (family !== route.group || former.product !== cloud.product) return route.path === instances ? null : instances
  return route.kind === 'hidden' ? (route.parent ?? null) : null
}
