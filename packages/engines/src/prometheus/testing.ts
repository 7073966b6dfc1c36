import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Debian's package `prometheus`. In CI it has to be there. */
export const prometheusProgram = '/usr/bin/prometheus'
export const prometheusIsThere = existsSync(prometheusProgram) || process.env['CI'] !== undefined

/** A Prometheus of its own on this host. */
export interface RunningPrometheus {
  readonly url: string
  stop(): Promise<void>
}

async function anyPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** @param config of its file, whole; `@SELF@` stands for its own address */
export async function startPrometheus(config: string): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-prometheus-'))
  const address = `127.0.0.1:${await anyPort()}`
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, config.replaceAll('@SELF@', address))
  const child: ChildProcess = spawn(
    prometheusProgram,
    [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${address}`, '--web.enable-lifecycle', '--log.level=warn'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
  const url = `http://${address}`
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`${url}/-/ready`).catch(() => null)
    if (answer?.ok === true) break
    if (child.exitCode !== null || tries > 200) throw new Error(`Prometheus did not start:\n${said}`)
    await sleep(50)
  }
  return {
    url,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
