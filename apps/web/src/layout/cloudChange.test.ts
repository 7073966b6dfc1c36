import { expect, it } from 'vitest'
import { pathAfterCloudChange } from './cloudChange.ts'
import { routeAt } from './routeAt.ts'

const product = { nextstack: { product: 'nextstack' }, openstack: { product: 'openstack' }, easystack: { product: 'easystack' } } as const

const after = (path: string, former: keyof typeof product, chosen: keyof typeof product): string | null => {
  const route = routeAt(path)
  if (route === null) throw new Error(`no route of ${path}`)
  return pathAfterCloudChange(route, product[former], product[chosen])
}

it('another product leads to its instances, also where it is of the same family', () => {
  expect(after('/nextStack/volumes', 'nextstack', 'openstack')).toBe('/instance')
  expect(after('/instance', 'openstack', 'nextstack')).toBe('/nextStack/vm')
  expect(after('/instance-recovery', 'easystack', 'openstack')).toBe('/instance')
  expect(after('/instancedesc/1', 'openstack', 'easystack')).toBe('/instance')
  expect(after('/instance', 'openstack', 'easystack')).toBeNull()
})

it('another cloud of the same product leaves a list where it is, and a thing of the former one for its list', () => {
  expect(after('/nextStack/volumes', 'nextstack', 'nextstack')).toBeNull()
  expect(after('/nextStack/volumes/detail/1', 'nextstack', 'nextstack')).toBe('/nextStack/volumes')
  expect(after('/instancedesc/1', 'openstack', 'openstack')).toBe('/instance')
})

it('pages that are about no cloud stay', () => {
  expect(after('/help', 'nextstack', 'openstack')).toBeNull()
})
