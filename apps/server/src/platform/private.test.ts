import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testApp } from '../testing/app.ts'
import { keepPrivate } from './private.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-private-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const modeOf = (...path: string[]): number => statSync(join(folder, ...path)).mode & 0o777
const write = (mode: number, ...path: string[]): void => {
  mkdirSync(join(folder, dirname(join(...path))), { recursive: true, mode: 0o755 })
  writeFileSync(join(folder, ...path), 'x')
  chmodSync(join(folder, ...path), mode)
}

it('what an earlier server left open to all is closed, but for what is the database’s and the agent’s', () => {
  chmodSync(folder, 0o755)
  write(0o644, 'sandbox', 'one', 'journal.jsonl')
  write(0o644, 'licence', 'public.pem')
  write(0o600, 'secret.key')
  write(0o644, 'notes')
  write(0o755, 'docker', 'bin', 'sh')
  write(0o644, 'database', 'PG_VERSION')
  write(0o644, 'agent', 'stacks', 'app.conf')
  symlinkSync('/etc/passwd', join(folder, 'elsewhere'))
  const elsewhere = statSync('/etc/passwd').mode
  keepPrivate(folder)
  expect(modeOf() & 0o066).toBe(0)
  expect([modeOf('sandbox'), modeOf('licence'), modeOf('secret.key'), modeOf('notes')]).toEqual([0o700, 0o700, 0o600, 0o600])
  // Nobody else gets there; a container whose disk lies there still has its programs.
  expect(modeOf('docker', 'bin', 'sh')).toBe(0o755)
  expect([modeOf('database', 'PG_VERSION'), modeOf('agent', 'stacks', 'app.conf')]).toEqual([0o644, 0o644])
  expect(statSync('/etc/passwd').mode).toBe(elsewhere)
})

it('a server does so at its start', async () => {
  chmodSync(folder, 0o755)
  write(0o644, 'sandbox', 'one', 'journal.jsonl')
  const app = await testApp({ DATA_DIR: folder })
  try {
    expect(modeOf() & 0o066).toBe(0)
    expect(modeOf('sandbox')).toBe(0o700)
  } finally {
    await app.close()
  }
})
