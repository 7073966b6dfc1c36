import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Platform } from '../../../platform/platform.ts'

const program = fileURLToPath(new URL('../../../../../agent/src/main.ts', import.meta.url))
const stopMs = 5_000

/**
 * The agent of the server's own host, a child of the server. One that a killed server left behind
 * holds a lock (flock(1), inherited), goes on, and comes back to the next server by itself: the
 * second one then ends at once.
 */
export function createLocalAgent(platform: Pick<Platform, 'config' | 'log'>, parts: { enrolment: () => Promise<{ token: string; key: string } | null> }) {
  const { config, log } = platform
  const directory = join(config.DATA_DIR, 'agent')
  let child: ChildProcess | null = null

  return {
    /** @param url where this server listens */
    async start(url: string): Promise<void> {
      if (config.LOCAL_AGENT === 'none') return
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        const enrolled = existsSync(join(directory, 'agent.json'))
        const enrolment = enrolled ? null : await parts.enrolment()
        // It was enrolled once, and somebody took its directory away.
        if (!enrolled && enrolment === null) return
        const first = enrolment === null ? [] : ['--server', url, '--key', enrolment.key]
        child = spawn('flock', ['--nonblock', '--no-fork', join(directory, 'lock'), process.execPath, program, 'run', '--data', directory, ...first], {
          stdio: 'ignore',
          env: { ...process.env, ...(enrolment !== null && { ZHISUAN_TOKEN: enrolment.token }) },
        })
        child.on('error', (error) => log.warn({ err: error }, 'the agent of this host'))
        child.on('exit', (code) => {
          child = null
          log.info({ code }, 'the agent of this host ended, or one runs already')
        })
      } catch (error) {
        // Without it everything else works.
        log.warn({ err: error }, 'the agent of this host')
      }
    },
    async stop(): Promise<void> {
      if (child === null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const late = setTimeout(() => child?.kill('SIGKILL'), stopMs)
      await ended
      clearTimeout(late)
    },
  }
}
