import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { registryProjects } from '@zhisuan/contract/ims/project'
import { registries, registryUsers } from '@zhisuan/contract/ims/registry'
import { startRegistry } from '@zhisuan/engines/registry/testing'
import { freePort } from '../support/port.ts'
import { asAdministrator, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median, timed } from './stats.ts'

const run = promisify(execFile)
const layers = 8
const layerBytes = 16 * 2 ** 20
const rounds = 15
const least = 0.95
const password = 'Registry-pass-1'

/**
 * An image that no registry has a part of yet, in the layout of OCI (image-spec 1.1, "Image Layout").
 * @returns its folder
 */
function freshImage(folder: string): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'blobs', 'sha256'), { recursive: true })
  const blob = (bytes: Buffer, mediaType: string) => {
    const digest = createHash('sha256').update(bytes).digest('hex')
    writeFileSync(join(folder, 'blobs', 'sha256', digest), bytes)
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length }
  }
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))
  const parts = Array.from({ length: layers }, () => blob(randomBytes(layerBytes), 'application/vnd.oci.image.layer.v1.tar+gzip'))
  const config = blob(
    json({ os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: parts.map(({ digest }) => digest) } }),
    'application/vnd.oci.image.config.v1+json',
  )
  const manifest = blob(
    json({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', config, layers: parts }),
    'application/vnd.oci.image.manifest.v1+json',
  )
  writeFileSync(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  writeFileSync(join(folder, 'index.json'), json({ schemaVersion: 2, manifests: [manifest] }))
  return folder
}

/** Pushes of an image of 128 MiB by skopeo: by our tokens, with the registry telling us, against a registry that asks nobody. */
export async function benchPush(data: string): Promise<Figure[]> {
  const port = String(await freePort())
  // Where registries send programs for tokens.
  const server = await startServer(data, {
    LOCAL_CLOUD: 'none',
    LOG_LEVEL: 'error',
    ZHISUAN_ENV: 'production',
    PORT: port,
    PUBLIC_URL: `http://localhost:${port}`,
  })
  const bare = await startRegistry()
  const ours = await startRegistry()
  try {
    const admin = await asAdministrator(server)
    const registry = await admin.call(registries.create, { body: { name: 'bench', connection: { engine: 'distribution', url: ours.url } } })
    const { token_service: tokens, notifications } = registry
    const bundle = join(ours.folder, 'tokens.pem')
    writeFileSync(bundle, tokens?.certificate ?? '')
    await ours.restart(
      [
        `auth: {token: {realm: '${tokens?.realm}', service: '${tokens?.service}', issuer: '${tokens?.issuer}', rootcertbundle: '${bundle}'}}`,
        `notifications: {endpoints: [{name: zhisuan, url: '${notifications?.url}', headers: {Authorization: ['Bearer ${notifications?.secret}']}, timeout: 2s, threshold: 3, backoff: 100ms}]}`,
      ].join('\n'),
    )
    await admin.call(registryProjects.create, { params: { id: registry.id }, body: { name: 'bench' } })
    await admin.call(registryUsers.create, { body: { password } })
    const source = join(data, 'image')
    const push = (address: string, ...more: string[]) =>
      timed(() => run('skopeo', ['copy', '--preserve-digests', '--dest-tls-verify=false', ...more, `oci:${source}`, `docker://${address}/bench/app:latest`]))
    const toBare = () => push(bare.address)
    const toOurs = () => push(ours.address, '--dest-creds', `admin:${password}`)
    const times = { bare: [] as number[], ours: [] as number[] }
    for (let round = 0; round <= rounds; round++) {
      freshImage(source)
      // Neither is always the one to which the image is read for the first time.
      const order = round % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)
      for (const one of order) {
        const took = await (one === 'bare' ? toBare : toOurs)()
        if (round > 0) times[one].push(took)
      }
    }
    const [floor, value] = [median(times.bare), median(times.ours)]
    const ratio = floor / value
    return [
      {
        name: `pushes of ${(layers * layerBytes) / 2 ** 20} MiB through our tokens, share of the bare registry's rate`,
        ours: `${value.toFixed(0)} ms`,
        floor: `${floor.toFixed(0)} ms`,
        value: ratio,
        bar: `≥ ${least}`,
        met: ratio >= least,
      },
    ]
  } finally {
    await bare.stop()
    await ours.stop()
    await server.stop()
  }
}
