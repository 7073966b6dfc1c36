import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { mediaTypes } from './manifest.ts'
import type { Registry } from './types.ts'

/** Debian's package `docker-registry`. In CI it has to be there. */
export const registryProgram = '/usr/bin/docker-registry'
export const registryIsThere = existsSync(registryProgram) || process.env['CI'] !== undefined

/** A registry of its own on this host, without TLS. */
export interface RunningRegistry {
  readonly url: string
  /** As images are named: `127.0.0.1:port`. */
  readonly address: string
  /** Where what it holds lies. */
  readonly folder: string
  /** Begins it anew with other lines, on what it holds. */
  restart(more: string): Promise<void>
  /** As a power cut. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** A port of this host that nobody has now. */
export async function anyPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** @param more lines of its configuration, such as `auth` */
export async function startRegistry(more = ''): Promise<RunningRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-registry-'))
  mkdirSync(join(folder, 'data'))
  const address = `127.0.0.1:${await anyPort()}`
  const config = join(folder, 'config.yml')
  const url = `http://${address}`
  let child: ChildProcess
  const start = async (lines: string): Promise<void> => {
    writeFileSync(
      config,
      `version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage:\n  filesystem: {rootdirectory: ${join(folder, 'data')}}\n  delete: {enabled: true}\nhttp: {addr: '${address}'}\n${lines}`,
    )
    const started = spawn(registryProgram, ['serve', config], { stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    let said = ''
    for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
    for (let tries = 0; ; tries++) {
      const answers = await fetch(`${url}/v2/`).then(
        () => true,
        () => false,
      )
      if (answers) return
      if (started.exitCode !== null || tries > 200) throw new Error(`the registry did not start:\n${said}`)
      await sleep(50)
    }
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  await start(more)
  return {
    url,
    address,
    folder,
    async restart(lines) {
      await end('SIGTERM')
      await start(lines)
    },
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Pushes an image of one layer; what is in it nobody runs. */
export async function pushImage(
  registry: Registry,
  repository: string,
  tag: string | null,
  content: { readonly layer: string; readonly os?: string; readonly architecture?: string },
): Promise<{ digest: string; bytes: Buffer; sizeBytes: number }> {
  const layer = Buffer.from(content.layer)
  const config = Buffer.from(
    JSON.stringify({
      os: content.os ?? 'linux',
      architecture: content.architecture ?? 'amd64',
      created: '2026-01-02T03:04:05Z',
      config: { Cmd: ['sh'], Env: ['PATH=/bin'], Labels: { of: 'test' } },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
      history: [
        { created: '2026-01-02T03:04:05Z', created_by: `ADD ${content.layer}` },
        { created: '2026-01-02T03:04:05Z', created_by: 'CMD ["sh"]', empty_layer: true },
      ],
    }),
  )
  for (const bytes of [layer, config]) await registry.putBlob(repository, bytes)
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: mediaTypes.ociManifest,
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digestOf(config), size: config.length },
      layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: digestOf(layer), size: layer.length }],
    }),
  )
  const digest = await registry.putManifest(repository, tag ?? digestOf(bytes), { mediaType: mediaTypes.ociManifest, bytes })
  return { digest, bytes, sizeBytes: layer.length + config.length + bytes.length }
}

/** A chart, as `helm push` sends it: what Chart.yaml says as its config, and the packed chart. */
export async function pushChart(registry: Registry, repository: string, chart: { readonly version: string; readonly appVersion: string }): Promise<string> {
  const config = Buffer.from(JSON.stringify({ name: repository.split('/').at(-1), apiVersion: 'v2', type: 'application', ...chart }))
  const packed = gzipSync(`a chart of ${chart.version}`)
  for (const bytes of [config, packed]) await registry.putBlob(repository, bytes)
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: mediaTypes.ociManifest,
      config: { mediaType: mediaTypes.helmConfig, digest: digestOf(config), size: config.length },
      layers: [{ mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', digest: digestOf(packed), size: packed.length }],
    }),
  )
  return registry.putManifest(repository, chart.version, { mediaType: mediaTypes.ociManifest, bytes })
}

/** An index of images that are there. */
export async function pushIndex(
  registry: Registry,
  repository: string,
  tag: string,
  images: readonly { readonly digest: string; readonly bytes: Buffer; readonly os: string; readonly architecture: string }[],
): Promise<string> {
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: mediaTypes.ociIndex,
      manifests: images.map((one) => ({
        mediaType: mediaTypes.ociManifest,
        digest: one.digest,
        size: one.bytes.length,
        platform: { os: one.os, architecture: one.architecture },
      })),
    }),
  )
  return registry.putManifest(repository, tag, { mediaType: mediaTypes.ociIndex, bytes })
}
