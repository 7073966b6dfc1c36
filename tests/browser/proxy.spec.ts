import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { heading } from './console.ts'
import { expect, signIn, stage, test } from './test.ts'

const documentation = fileURLToPath(new URL('../../docs/operations.md', import.meta.url))

test.describe('behind nginx as docs/operations.md sets it up', () => {
  let folder: TemporaryFolder
  let nginx: ChildProcess | undefined
  let origin = ''

  test.beforeAll(async () => {
    folder = temporaryFolder('proxy')
    const at = (name: string): string => join(folder.path, name)
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', at('tls.key'), '-out', at('tls.crt'), '-days', '1', '-subj', '/CN=localhost'],
      { stdio: 'ignore' },
    )
    const written = /```nginx\n([\s\S]*?)```/.exec(readFileSync(documentation, 'utf8'))?.[1] ?? ''
    const port = await freePort()
    const server = written
      .replace('listen 443 ', `listen 127.0.0.1:${port} `)
      .replace('http://127.0.0.1:8080', stage().url)
      .replaceAll('/etc/zhisuan/', `${folder.path}/`)
    expect(server).toContain(`${port} ssl http2;`)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${at(kind)};`).join('\n')
    writeFileSync(
      at('nginx.conf'),
      `daemon off;\npid ${at('pid')};\nerror_log ${at('error.log')};\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${server}\n}\n`,
    )
    nginx = spawn('nginx', ['-p', folder.path, '-e', at('error.log'), '-c', at('nginx.conf')], { stdio: 'inherit' })
    origin = `https://localhost:${port}`
  })
  test.afterAll(async () => {
    nginx?.kill('SIGTERM')
    if (nginx !== undefined && nginx.exitCode === null) await once(nginx, 'exit')
    folder.remove()
  })

  test.use({ ignoreHTTPSErrors: true })

  test('a page comes over one connection of HTTP/2, its terminal is opened, and nobody reads the metrics', async ({ page, context, trouble }) => {
    await expect(async () => expect((await context.request.get(`${origin}/readyz`)).status()).toBe(200)).toPass()
    await signIn(context, 'tenant', origin)
    await page.goto(`${origin}/nextStack/vm?keyword=${encodeURIComponent('示例')}`)
    await expect(page.getByRole('row', { name: /示例实例/ })).toBeVisible()
    const asked = await page.evaluate(() =>
      performance.getEntries().flatMap((one) => ('nextHopProtocol' in one && 'name' in one ? [`${String(one.nextHopProtocol)} ${one.name}`] : [])),
    )
    expect(asked.length).toBeGreaterThan(5)
    expect(asked.filter((one) => !one.startsWith('h2 ') && !one.includes(' data:'))).toEqual([])

    await page.goto(`${origin}/nextStack/vm/detail/${stage().vmId}`)
    await expect(heading(page, '示例实例')).toBeVisible()
    await page.getByRole('tab', { name: '终端' }).click()
    await expect(page.getByRole('toolbar', { name: '终端工具' }).getByRole('status')).toHaveText('已连接')

    trouble.expect(/^404 GET \/metrics$/)
    expect((await context.request.get(`${origin}/metrics`)).status()).toBe(404)
  })
})
