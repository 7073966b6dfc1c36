/**
 * What NVIDIA's hook does for Docker, for nodes without a card: puts the nodes of the cards that a container asks for into
 * it, and `nvidia-smi`, before it starts. Docker runs it because it is called `nvidia-container-runtime-hook` on its path.
 * OCI's state of the container comes on the standard input; an exit code other than 0 keeps the container from starting.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cardsOfNode, uuidOf } from './cards.ts'

interface State {
  readonly pid: number
  readonly bundle?: string
  readonly bundlePath?: string
}
interface Spec {
  readonly root: { readonly path: string }
  readonly process: { readonly env: readonly string[] }
}

const refuse = (message: string): never => {
  process.stderr.write(`nvidia-container-cli: device error: ${message}\n`)
  process.exit(1)
}

if (process.argv[2] === 'prestart') {
  // As OCI's runtime specification has them.
  const state = JSON.parse(readFileSync(0, 'utf8')) as State
  const bundle = state.bundle ?? state.bundlePath ?? ''
  const spec = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as Spec
  // Docker writes what was asked of it over what the image says.
  const asked = spec.process.env.findLast((pair) => pair.startsWith('NVIDIA_VISIBLE_DEVICES='))?.split('=')[1] ?? ''
  if (!['', 'void', 'none'].includes(asked)) give(state.pid, resolve(bundle, spec.root.path), asked)
}

function give(pid: number, root: string, asked: string): void {
  const all = Array.from({ length: cardsOfNode() }, (_, index) => index)
  const chosen =
    asked === 'all'
      ? all
      : asked.split(',').map((id) => all.find((index) => id === String(index) || id === uuidOf(index)) ?? refuse(`unknown device id: ${id}`))
  const made = [...chosen.map((index) => `nvidia${index}`), 'nvidiactl', 'nvidia-uvm']
  const script = [
    'set -e',
    'mkdir -p "$1/usr/bin"',
    ...made.map((name) => `mknod -m 666 "$1/dev/${name}" c 1 3`),
    'cp "$2" "$1/usr/bin/nvidia-smi"',
    'chmod 755 "$1/usr/bin/nvidia-smi"',
  ].join('\n')
  execFileSync('nsenter', ['--target', String(pid), '--mount', '/bin/sh', '-c', script, 'sh', root, join(import.meta.dirname, 'nvidia-smi')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
