import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ComputeEngine, Image } from '@zhisuan/engines/compute'
import { EngineError } from '@zhisuan/engines/errors'
import { createSandboxEngine } from '@zhisuan/engines/sandbox/engine'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../../platform/log.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import type { KnownCloud } from '../../cmp/cloud/cloud.shape.ts'
import { firstImageHandler, seedFirstImage } from './first-image.ts'

/** What the build of the image does instead of building: engine tests have the real one (scripts/build-image.sh). */
let build: (path: string) => void
const runProgram = async (program: string, [script = '', path = '']: readonly string[]): Promise<void> => {
  expect([program, existsSync(script)]).toEqual(['bash', true])
  build(path)
}

const sandbox = createSandboxEngine({ directory: null })

/** An engine with images or without, or that does not answer, and what it was given. */
function engineWith(images: readonly Image[] | 'silence') {
  const imported: { path: string; content: string; alias: string }[] = []
  const engine: ComputeEngine = {
    ...sandbox,
    images: {
      ...sandbox.images,
      list: async () => {
        if (images === 'silence') throw new EngineError('unreachable', 'down')
        return [...images]
      },
      importFile: async ({ alias, metadataPath }) => {
        imported.push({ alias, path: metadataPath, content: readFileSync(metadataPath, 'utf8') })
        return 'f'.repeat(64)
      },
    },
  }
  return { engine, imported }
}
const cloud = (changes: Partial<KnownCloud> = {}): KnownCloud => ({
  id: randomUUID(),
  name: 'c',
  product: 'nextstack',
  status: 'active',
  sandbox: false,
  local: true,
  ...changes,
})

describe('a cloud at the start', () => {
  let app: TestApp
  let some: readonly Image[]
  beforeAll(async () => {
    app = await testApp()
    some = await sandbox.images.list()
  })
  afterAll(() => app.close())
  afterEach(() => app.platform.database.pool.query("delete from pgboss.job where name = 'nextstack.image.seed'"))
  const asked = async () =>
    (
      await app.platform.database.pool.query<{ cloud_id: string }>("select data->>'cloud_id' as cloud_id from pgboss.job where name = 'nextstack.image.seed'")
    ).rows.map(({ cloud_id }) => cloud_id)
  const seed = async (of: KnownCloud, images: readonly Image[] | 'silence') => {
    await seedFirstImage(app.platform, { all: async () => [of], engine: async () => engineWith(images).engine })
    return asked()
  }

  it('on this host, without an image, is to get one', async () => {
    const empty = cloud()
    expect(await seed(empty, [])).toEqual([empty.id])
  })

  it.each<[string, Partial<KnownCloud>]>([
    ['elsewhere', { local: false }],
    ['that is a sandbox', { sandbox: true }],
    ['of another family', { product: 'openstack' }],
  ])('%s is left alone', async (_, changes) => {
    expect(await seed(cloud(changes), [])).toEqual([])
  })

  it('that has images, or does not answer, is left alone', async () => {
    expect(await seed(cloud(), some)).toEqual([])
    expect(await seed(cloud(), 'silence')).toEqual([])
  })

  it('that cannot be opened does not keep the others from theirs', async () => {
    const [broken, empty] = [cloud(), cloud()]
    await seedFirstImage(app.platform, {
      all: async () => [broken, empty],
      engine: async (id) => {
        if (id === broken.id) throw new Error('its secrets cannot be read')
        return engineWith([]).engine
      },
    })
    expect(await asked()).toEqual([empty.id])
  })
})

describe('the first image', () => {
  const cloud_id = randomUUID()
  async function run(images: readonly Image[]) {
    const { engine, imported } = engineWith(images)
    const forget = vi.fn<(id: string) => void>()
    const { run: handle } = firstImageHandler({
      clouds: { engine: async () => engine },
      catalogue: { forget },
      log: createLog({ LOG_LEVEL: 'silent' }),
      run: runProgram,
    })
    const done = handle({ cloud_id }, { signal: new AbortController().signal })
    return { done, imported, forget }
  }

  it('is built, imported and shown, and leaves nothing behind', async () => {
    build = (path) => writeFileSync(path, 'an image')
    const { done, imported, forget } = await run([])
    await done
    expect(imported).toMatchObject([{ alias: 'busybox', content: 'an image' }])
    expect(forget).toHaveBeenCalledWith(cloud_id)
    expect(existsSync(dirname(imported[0]?.path ?? ''))).toBe(false)
  })

  it('is not built where somebody was faster', async () => {
    build = () => expect.fail('it was built')
    const { done, imported, forget } = await run(await sandbox.images.list())
    await done
    expect(imported).toEqual([])
    expect(forget).not.toHaveBeenCalled()
  })

  it('that cannot be built fails its job, and leaves nothing behind', async () => {
    let place = ''
    build = (path) => {
      place = path
      throw new Error('busybox is missing')
    }
    const { done, imported } = await run([])
    await expect(done).rejects.toThrow('busybox is missing')
    expect(imported).toEqual([])
    expect(place).not.toBe('')
    expect(existsSync(dirname(place))).toBe(false)
  })
})
