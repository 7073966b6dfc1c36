import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultSocketPath } from './socket.ts'
import type { Docker } from './types.ts'

/** Where there is one, tests against a real engine run; in CI there has to be one. */
export const dockerIsThere = existsSync(defaultSocketPath) || process.env['CI'] !== undefined

/** Makes an image of nothing but this host's busybox; without network. Whoever makes it removes it. */
export async function importBusybox(docker: Docker, name: string, changes: readonly string[] = []): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'zhisuan-busybox-'))
  try {
    for (const directory of ['bin', 'tmp', 'etc', 'root']) mkdirSync(join(root, directory))
    copyFileSync('/bin/busybox', join(root, 'bin/busybox'))
    const applets = execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).split('\n')
    // It lists itself, too: a link of that name would lead to itself.
    for (const applet of applets) if (applet !== '' && applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet))
    const tar = execFileSync('tar', ['-C', root, '--owner=0', '--group=0', '-c', '.'], { maxBuffer: 64 * 2 ** 20 })
    await docker.images.import(name, tar, { changes: ['CMD ["sh"]', 'ENV PATH=/bin', ...changes] })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Removes what a test has made, by its label, whatever became of the test. */
export async function removeLabelled(docker: Docker, label: string): Promise<void> {
  for (const { id } of await docker.containers.list({ labels: [label] })) await docker.containers.remove(id, { force: true, volumes: true })
  for (const { name } of await docker.volumes.list({ labels: [label] })) await docker.volumes.remove(name, { force: true })
}
