import { afterEach, expect, it } from 'vitest'
import { nameCloudBy, paths, withQuery } from './paths.ts'

afterEach(() => nameCloudBy(() => null))
const family = Object.values(paths.compute).flatMap((group) => Object.values<(...values: string[]) => string>(group))

it('each address of the second family names the cloud that it is of', () => {
  expect(family.length).toBeGreaterThan(30)
  nameCloudBy(() => 'c-1')
  for (const to of family) expect(to('a', 'b')).toMatch(/^\/[\w/-]+\?cloud=c-1$/)
  expect(withQuery(paths.compute.instance.add(), { image: 'i 1' })).toBe('/instanceadd?cloud=c-1&image=i+1')
})

it('and none where nobody knows it', () => {
  for (const to of family) expect(to('a', 'b')).not.toContain('?')
})
