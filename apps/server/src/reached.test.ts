import { expect, it } from 'vitest'
import { testApp } from './testing/app.ts'

it('asks the engine whether what failed came true, of each step where that shows', async () => {
  const app = await testApp()
  try {
    const steps = app.platform
      .modules()
      .flatMap(({ operations = [] }) =>
        operations.flatMap(({ kind, steps }) => steps.map(({ name, reached }) => `${kind} ${name}: ${typeof reached === 'string' ? reached : 'asked'}`)),
      )
    expect(steps.filter((line) => line.startsWith('nextstack.')).toSorted()).toMatchInlineSnapshot(`
      [
        "nextstack.host.evacuate evacuate: asked",
        "nextstack.host.evacuate instances: ours",
        "nextstack.host.restore instances: ours",
        "nextstack.host.restore restore: asked",
        "nextstack.image.delete delete: partly",
        "nextstack.image.fetch clean: ours",
        "nextstack.image.fetch fetch: ours",
        "nextstack.image.fetch import: partly",
        "nextstack.image.fetch verify: ours",
        "nextstack.image.fromVm publish: partly",
        "nextstack.image.upload clean: ours",
        "nextstack.image.upload import: partly",
        "nextstack.image.upload verify: ours",
        "nextstack.snapshot.create create: partly",
        "nextstack.snapshot.create measure: ours",
        "nextstack.snapshot.delete delete: asked",
        "nextstack.snapshot.restore observe: ours",
        "nextstack.snapshot.restore restore: unseen",
        "nextstack.vm.create access: unseen",
        "nextstack.vm.create create: partly",
        "nextstack.vm.create start: asked",
        "nextstack.vm.delete delete: asked",
        "nextstack.vm.rebuild access: unseen",
        "nextstack.vm.rebuild observe: partly",
        "nextstack.vm.rebuild rebuild: unseen",
        "nextstack.vm.rebuild start: asked",
        "nextstack.vm.rebuild stop: asked",
        "nextstack.vm.resize observe: ours",
        "nextstack.vm.resize resize: asked",
        "nextstack.vm.restart start: asked",
        "nextstack.vm.restart stop: asked",
        "nextstack.vm.start start: asked",
        "nextstack.vm.stop stop: asked",
        "nextstack.volume.attach attach: asked",
        "nextstack.volume.attach observe: ours",
        "nextstack.volume.create attach: partly",
        "nextstack.volume.create create: partly",
        "nextstack.volume.create observe: ours",
        "nextstack.volume.delete delete: asked",
        "nextstack.volume.detach detach: asked",
        "nextstack.volume.detach observe: ours",
        "nextstack.volume.grow grow: asked",
        "nextstack.volume.grow observe: ours",
        "nextstack.volume.restore observe: ours",
        "nextstack.volume.restore restore: unseen",
        "nextstack.volumeBackup.create observe: ours",
        "nextstack.volumeBackup.create write: ours",
        "nextstack.volumeBackup.delete delete: ours",
        "nextstack.volumeSnapshot.create snapshot: partly",
        "nextstack.volumeSnapshot.delete delete: asked",
        "nextstack.vpc.apply acl: partly",
        "nextstack.vpc.apply bandwidth: partly",
        "nextstack.vpc.apply forwards: partly",
        "nextstack.vpc.apply network: partly",
        "nextstack.vpc.apply obsolete: partly",
        "nextstack.vpc.delete acl: asked",
        "nextstack.vpc.delete network: asked",
      ]
    `)
  } finally {
    await app.close()
  }
})
