import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { storageConformance } from '../conformance/storage.ts'
import { createSandboxEngine } from './engine.ts'

const place = async () => ({
  imageFingerprint: (await createSandboxEngine({ directory: null }).images.list()).find((one) => one.type === 'vm')?.fingerprint ?? '',
  network: 'sandbox0',
})

// A little latency, so that calls can be cancelled while they run.
storageConformance('The sandbox', () => createSandboxEngine({ directory: null, latencyMs: 2 }), { type: 'vm', prefix: 'zs-vol-', machines: false, place })

const gib = 2 ** 30
const volume = (name: string, sizeBytes = gib) => ({ pool: 'default', volume: name, content: 'filesystem' as const, sizeBytes, description: '', tags: {} })

it('keeps volumes, what is on them and their snapshots over a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'zhisuan-sandbox-'))
  const first = createSandboxEngine({ directory })
  const { imageFingerprint } = await place()
  await first.instances.create({ name: 'one', type: 'vm', imageFingerprint, cpuCores: 1, memoryBytes: gib, diskBytes: gib, network: 'sandbox0', tags: {} })
  await first.storage.volumes.create(volume('data'))
  await first.storage.volumes.attach({ pool: 'default', volume: 'data' }, { instance: 'one', device: 'data', path: '/data' })
  await first.instances.writeFile('one', { path: '/data/file', content: Buffer.from('kept'), mode: 0o600 })
  await first.storage.volumes.snapshots.create({ pool: 'default', volume: 'data' }, 'snap')
  await first.instances.snapshots.create('one', 'snap')
  await first.close()
  const second = createSandboxEngine({ directory })
  expect(await second.storage.volumes.get({ pool: 'default', volume: 'data' })).toMatchObject({ attached: [{ instance: 'one', path: '/data' }], usedBytes: 4 })
  await second.instances.start('one')
  expect((await second.instances.exec('one', { command: ['cat', '/data/file'] })).stdout.toString()).toBe('kept')
  expect(await second.storage.volumes.snapshots.list({ pool: 'default', volume: 'data' })).toMatchObject([{ name: 'snap', sizeBytes: 4 }])
  expect(await second.instances.snapshots.list('one')).toMatchObject([{ name: 'snap' }])
  await second.close()
  rmSync(directory, { recursive: true, force: true })
})

it('has no more than it has, and takes no more than fits on a volume', async () => {
  const engine = createSandboxEngine({ directory: null })
  const { volumes } = engine.storage
  const huge = 1_600_000 * gib
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await volumes.create(volume(name, huge))
  await expect(volumes.create(volume('a6'))).rejects.toMatchObject({ kind: 'exhausted' })
  await expect(volumes.grow({ pool: 'default', volume: 'a1' }, huge + gib)).rejects.toMatchObject({ kind: 'exhausted' })
  await volumes.delete({ pool: 'default', volume: 'a5' })
  const { imageFingerprint } = await place()
  await engine.instances.create({ name: 'one', type: 'vm', imageFingerprint, cpuCores: 1, memoryBytes: gib, diskBytes: gib, network: 'sandbox0', tags: {} })
  await volumes.create(volume('small', 4))
  await volumes.attach({ pool: 'default', volume: 'small' }, { instance: 'one', device: 'data', path: '/data' })
  await engine.instances.writeFile('one', { path: '/data/a', content: Buffer.from('1234'), mode: 0o600 })
  await expect(engine.instances.writeFile('one', { path: '/data/b', content: Buffer.from('5'), mode: 0o600 })).rejects.toMatchObject({ kind: 'exhausted' })
  await engine.close()
})
