import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistry } from './client.ts'
import { isImageConfig, parseImageConfig, parseManifest } from './manifest.ts'
import { pushImage, pushIndex, registryIsThere, startRegistry, type RunningRegistry } from './testing.ts'
import type { Registry } from './types.ts'

describe.skipIf(!registryIsThere)('a registry (CNCF distribution)', () => {
  let running: RunningRegistry
  let registry: Registry
  beforeAll(async () => {
    running = await startRegistry()
    registry = createRegistry({ url: running.url, credentials: { kind: 'none' } })
  })
  afterAll(async () => {
    await registry.close()
    await running.stop()
  })

  it('is one, and what is not says so', async () => {
    await registry.check()
    const nobody = createRegistry({ url: 'http://127.0.0.1:1', credentials: { kind: 'none' } })
    await expect(nobody.check()).rejects.toMatchObject({ kind: 'unreachable' })
    await nobody.close()
  })

  it('has what was pushed: repositories, tags, manifests, how an image was built', async () => {
    const { digest } = await pushImage(registry, 'team/app', '1.0', { layer: 'one' })
    await pushImage(registry, 'team/app', '1.1', { layer: 'two' })
    const names: string[] = []
    for await (const page of registry.repositories()) names.push(...page)
    expect(names).toEqual(['team/app'])
    expect((await registry.tags('team/app')).items.toSorted()).toEqual(['1.0', '1.1'])
    expect(await registry.tags('team/app', { most: 1 })).toMatchObject({ items: [expect.any(String)], more: true })
    expect(await registry.head('team/app', '1.0')).toBe(digest)
    const manifest = await registry.manifest('team/app', '1.0')
    expect(manifest?.digest).toBe(digest)
    const content = parseManifest(manifest?.bytes ?? Buffer.alloc(0))
    if (content.kind !== 'manifest') throw new Error('a manifest')
    expect(isImageConfig(content.artifactType)).toBe(true)
    const config = parseImageConfig((await registry.blob('team/app', content.config.digest)) ?? Buffer.alloc(0))
    expect(config).toMatchObject({ os: 'linux', architecture: 'amd64', command: ['sh'], history: [{ createdBy: 'ADD one' }, { emptyLayer: true }] })
  })

  it('tells what is not there as nothing', async () => {
    expect(await registry.manifest('team/app', 'none')).toBeNull()
    expect(await registry.head('nobody/nothing', 'x')).toBeNull()
    expect(await registry.tags('nobody/nothing')).toEqual({ items: [], more: false })
    expect(await registry.blob('team/app', `sha256:${'0'.repeat(64)}`)).toBeNull()
  })

  it('takes an index of several platforms', async () => {
    const [one, other] = [
      await pushImage(registry, 'team/many', null, { layer: 'amd' }),
      await pushImage(registry, 'team/many', null, { layer: 'arm', architecture: 'arm64' }),
    ]
    await pushIndex(registry, 'team/many', 'latest', [
      { ...one, os: 'linux', architecture: 'amd64' },
      { ...other, os: 'linux', architecture: 'arm64' },
    ])
    const manifest = await registry.manifest('team/many', 'latest')
    expect(parseManifest(manifest?.bytes ?? Buffer.alloc(0))).toMatchObject({
      kind: 'index',
      manifests: [
        { digest: one.digest, architecture: 'amd64' },
        { digest: other.digest, architecture: 'arm64' },
      ],
    })
  })

  it('deletes by digest with all tags of it, and what is gone is gone', async () => {
    const { digest, bytes } = await pushImage(registry, 'team/gone', 'a', { layer: 'gone' })
    await registry.putManifest('team/gone', 'b', { mediaType: 'application/vnd.oci.image.manifest.v1+json', bytes })
    await registry.deleteManifest('team/gone', digest)
    await registry.deleteManifest('team/gone', digest)
    expect(await registry.tags('team/gone')).toEqual({ items: [], more: false })
  })

  it('refuses what is no manifest, and one that leads to nothing', async () => {
    const put = (text: string) => registry.putManifest('team/app', 'bad', { mediaType: 'application/vnd.oci.image.manifest.v1+json', bytes: Buffer.from(text) })
    await expect(put('{')).rejects.toMatchObject({ kind: 'invalid' })
    const nothing = { mediaType: 'application/vnd.oci.image.config.v1+json', digest: `sha256:${'1'.repeat(64)}`, size: 1 }
    await expect(
      put(JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', config: nothing, layers: [] })),
    ).rejects.toMatchObject({
      kind: expect.stringMatching(/invalid|not_found/) as string,
    })
  })
})
