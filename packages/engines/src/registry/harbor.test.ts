import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHarbor } from './harbor.ts'
import { startFakeHarbor, type FakeHarbor } from './harbor.testing.ts'
import type { Registry } from './types.ts'

let harbor: FakeHarbor
let registry: Registry
beforeAll(async () => {
  harbor = await startFakeHarbor()
  registry = createHarbor({ url: harbor.url, credentials: { kind: 'account', ...harbor.account } })
})
afterAll(async () => {
  await registry.close()
  harbor.close()
})

describe('Harbor', () => {
  it('is known by its API, and lets a robot account in', async () => {
    await registry.check()
    const wrong = createHarbor({ url: harbor.url, credentials: { kind: 'account', ...harbor.account, password: 'wrong' } })
    await expect(wrong.check()).rejects.toMatchObject({ kind: 'unauthorized' })
    await wrong.close()
  })

  it('is not what another registry is, that only speaks the API of registries', async () => {
    const plain = createServer((request, response) =>
      request.url === '/v2/' ? response.end('{}') : response.writeHead(request.url?.startsWith('/api') === true ? 404 : 200).end('{}'),
    ).listen(0, '127.0.0.1')
    await new Promise((resolve) => plain.once('listening', resolve))
    const other = createHarbor({ url: `http://127.0.0.1:${(plain.address() as AddressInfo).port}`, credentials: { kind: 'account', ...harbor.account } })
    await expect(other.check()).rejects.toMatchObject({ kind: 'not_found' })
    await other.close()
    plain.closeAllConnections()
    plain.close()
  })

  it('tells all that is in the projects of the account, however many pages that takes, also where names have slashes', async () => {
    for (let index = 0; index < 101; index++) harbor.repositories.set(`team/app-${index}`, ['1'])
    harbor.repositories.set(
      'library/deep/er/app',
      Array.from({ length: 150 }, (_, index) => `v${index}`),
    )
    const all: string[] = []
    for await (const page of registry.repositories()) all.push(...page)
    expect(all.toSorted()).toEqual([...harbor.repositories.keys()].toSorted())
    expect(harbor.asked).not.toContain('GET /v2/_catalog')
    expect((await registry.tags('library/deep/er/app')).items).toHaveLength(150)
    expect(await registry.tags('library/deep/er/app', { most: 3 })).toMatchObject({ items: ['v0', 'v1', 'v2'], more: true })
    for (const none of ['library/none', 'alone', 'none/app']) expect(await registry.tags(none)).toEqual({ items: [], more: false })
    expect(await registry.manifest('team/app-1', '1')).toMatchObject({ mediaType: 'application/vnd.oci.image.manifest.v1+json' })
    expect(await registry.manifest('team/app-1', '2')).toBeNull()
  })
})
