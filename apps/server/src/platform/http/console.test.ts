import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import cookie from '@fastify/cookie'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveConsole } from './console.ts'

let app: FastifyInstance
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
  mkdirSync(join(folder, '.vite'))
  writeFileSync(join(folder, 'index.html'), '<html><head></head><body></body></html>')
  writeFileSync(
    join(folder, '.vite/preloads.json'),
    JSON.stringify([
      { pattern: '^/a/add/?$', inside: true, scripts: ['/assets/add.js'], styles: ['/assets/add.css'] },
      { pattern: '^/login/?$', inside: false, scripts: ['/assets/login.js'], styles: [] },
      { pattern: '^/a/[^/]+/?$', inside: true, scripts: ['/assets/one.js'], styles: [] },
    ]),
  )
  app = fastify()
  await app.register(cookie)
  await serveConsole(app, { WEB_DIR: folder, ZHISUAN_ENV: 'test' })
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const pageAt = async (url: string, signedIn: boolean): Promise<string> => (await app.inject({ url, ...(signedIn && { cookies: { token: 't' } }) })).body

it('a page names at its head the files that its address needs', async () => {
  const page = await pageAt('/a/add?x=/login', true)
  expect(page).toContain('<link rel="modulepreload" crossorigin href="/assets/add.js">')
  expect(page).toContain('<link rel="stylesheet" crossorigin href="/assets/add.css">')
  expect(page).not.toContain('one.js')
  expect(await pageAt('/a/42', true)).toContain('one.js')
})

it('who has not signed in loads nothing of the console, only what visitors see', async () => {
  expect(await pageAt('/a/42', false)).not.toContain('link')
  expect(await pageAt('/login', false)).toContain('login.js')
})

it('an address that the build does not know is the page as it is', async () => {
  expect(await pageAt('/elsewhere', true)).toBe('<html><head></head><body></body></html>')
})
