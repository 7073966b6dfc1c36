import { randomUUID } from 'node:crypto'
import { createSandboxEngine } from '@zhisuan/engines/sandbox/engine'
import { EngineError } from '@zhisuan/engines/errors'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import type { Network } from '@zhisuan/engines/network'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { platformScope } from '../../../platform/auth/actor.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { createCatalogue, runsCloudInit } from './catalogue.service.ts'

const sandbox = createSandboxEngine({ directory: null })
const bridge = (name: string, managed: boolean): Network => ({
  name,
  description: '',
  managed,
  kind: 'bridge',
  ipv4: null,
  ipv6: null,
  nat: false,
  tags: {},
  usedBy: [],
})

/** An engine that counts how often its images are asked for, and may fail. */
function counting(): { engine: ComputeEngine; asked: () => number; fail: (failing: boolean) => void } {
  let asked = 0
  let failing = false
  const engine: ComputeEngine = {
    ...sandbox,
    images: {
      ...sandbox.images,
      list: async () => {
        asked += 1
        if (failing) throw new EngineError('unreachable', 'down')
        return sandbox.images.list()
      },
    },
    networks: { ...sandbox.networks, list: async () => [bridge('lxdbr0', true), bridge('eth0', false)] },
  }
  return {
    engine,
    asked: () => asked,
    fail: (now) => {
      failing = now
    },
  }
}

describe('what a cloud offers', () => {
  const [a, b] = [randomUUID(), randomUUID()]
  let app: TestApp
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(() => app.close())

  it('is asked once for many who ask at once, for each cloud', async () => {
    const { engine, asked } = counting()
    const catalogue = createCatalogue({ forReading: async () => engine }, app.platform.db)
    const answers = await Promise.all(Array.from({ length: 10 }, () => catalogue.images(platformScope, { cloud_id: a })))
    expect(answers.every(({ total }) => total === 6)).toBe(true)
    await catalogue.networks({ cloud_id: a })
    expect(asked()).toBe(1)
    await catalogue.images(platformScope, { cloud_id: b })
    expect(asked()).toBe(2)
  })

  it('is asked again after it changed, and after it failed', async () => {
    const { engine, asked, fail } = counting()
    const catalogue = createCatalogue({ forReading: async () => engine }, app.platform.db)
    await catalogue.images(platformScope, { cloud_id: a })
    catalogue.forget(a)
    fail(true)
    await expect(catalogue.images(platformScope, { cloud_id: a })).rejects.toMatchObject({ kind: 'unreachable' })
    fail(false)
    expect((await catalogue.images(platformScope, { cloud_id: a })).total).toBe(6)
    expect(asked()).toBe(3)
  })

  it('is refused before anything is remembered: a cloud that went offline', async () => {
    const { engine } = counting()
    let offline = false
    const catalogue = createCatalogue(
      {
        forReading: async () => {
          if (offline) throw new Error('offline')
          return engine
        },
      },
      app.platform.db,
    )
    await catalogue.images(platformScope, { cloud_id: a })
    offline = true
    await expect(catalogue.images(platformScope, { cloud_id: a })).rejects.toThrow('offline')
    await expect(catalogue.networks({ cloud_id: a })).rejects.toThrow('offline')
  })

  it('is the networks that the engine manages, not the host’s own', async () => {
    const { engine } = counting()
    const catalogue = createCatalogue({ forReading: async () => engine }, app.platform.db)
    expect(await catalogue.networks({ cloud_id: a })).toEqual({ total: 1, items: [{ name: 'lxdbr0', description: '', ipv4: null, ipv6: null }] })
  })
})

describe('images that run cloud-init', () => {
  it.each([
    [{ 'cloud-init': 'true' }, true],
    [{ variant: 'cloud' }, true],
    [{ variant: 'default' }, false],
    [{ 'cloud-init': 'false' }, false],
    [{}, false],
  ])('say so: %j', (properties, runs) => {
    expect(runsCloudInit({ properties })).toBe(runs)
  })
})
