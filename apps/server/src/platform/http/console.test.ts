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
  writeFileSync(join(folder, 'index.html'), '<html><head><title>x</title></head><body></body></html>')
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
  await serveConsole(app, { WEB_DIR: folder, ZHISUAN_ENV: 'test', PUBLIC_URL: 'https://cloud.example.com' }, async (path) => {
    if (path === '/broken') throw new Error('no database')
    return path === '/shared' ? { title: '<模型> & "它"', description: '说明', site: '智算云' } : null
  })
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
  expect(await pageAt('/elsewhere', true)).toBe('<html><head><title>x</title></head><body></body></html>')
})

it('what anybody may see says at its head what it is, for whoever shows links as cards; where that cannot be told the page is as it is', async () => {
  const page = await pageAt('/shared?x=1', false)
  expect(page).toContain('<title>&#60;模型&#62; &#38; &#34;它&#34;</title>')
  expect(page).toContain('<meta property="og:title" content="&#60;模型&#62; &#38; &#34;它&#34;">')
  expect(page).toContain('<meta property="og:description" content="说明">')
  expect(page).toContain('<meta property="og:url" content="https://cloud.example.com/shared">')
  expect(await pageAt('/broken', false)).not.toContain('og:')
})
