import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cardsVariable, fromVariable } from './cards.ts'

/**
 * The environment of a node with so many cards: Docker finds NVIDIA's hook in it, and the agent `nvidia-smi`.
 * @param from which number on they are counted: cards of two nodes are not the same ones
 * @param folder that takes the programs, and is removed by whoever made it
 */
export function cardsEnvironment(folder: string, count: number, from = 0): { PATH: string; [cardsVariable]: string; [fromVariable]: string } {
  const programs = join(folder, 'gpu-programs')
  mkdirSync(programs, { recursive: true })
  const hook = join(programs, 'nvidia-container-runtime-hook')
  writeFileSync(hook, `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'hook.ts')}' "$@"\n`)
  chmodSync(hook, 0o755)
  symlinkSync(join(import.meta.dirname, 'nvidia-smi'), join(programs, 'nvidia-smi'))
  return { PATH: `${programs}:${process.env['PATH'] ?? ''}`, [cardsVariable]: String(count), [fromVariable]: String(from) }
}
