import { expect, it } from 'vitest'
import { routeAt } from './routeAt.ts'

it.each([
  ['/iam/role/addForm', '/iam/role/addForm'],
  ['/iam/project/addForm', '/iam/project/addForm'],
  ['/iam/project/5', '/iam/project/{id}'],
  ['/iam/policie/version5', '/iam/policie/version{id}'],
  ['/addalarm', '/addalarm/{id?}'],
  ['/addalarm/5', '/addalarm/{id?}'],
  ['/subnetdesc/1/2', '/subnetdesc/{id}/{network_id}'],
  ['/nextStack/vm/', '/nextStack/vm'],
])('%s is %s', (address, path) => expect(routeAt(address)?.path).toBe(path))

it('an address is spelt as the table has it, or it is none', () => {
  for (const address of ['/nextstack/vm', '/subnetdesc/1', '/addalarm/5/6', '/nowhere']) expect(routeAt(address), address).toBeNull()
})
