import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { agentPaths } from '@zhisuan/contract/agent/node'
import { edges, edgeUpgrades } from '@zhisuan/contract/ecrm/edge'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { listening, register, someNode, startAgent } from '../testing.ts'
import { compareVersions } from './agent.files.ts'

const run = promisify(execFile)
let app: TestApp
let owner: Person & SignedIn
let stranger: Person & SignedIn
const stops: (() => void)[] = []

/** A program that says what it was called with, and what everybody on its node sees of those who called it. */
const program = (version: string): string => `import { readFileSync, writeFileSync } from 'node:fs'
// ${version}
const seen = []
for (let pid = process.pid; pid > 1; pid = /^PPid:\\s+(\\d+)$/m.exec(readFileSync('/proc/' + pid + '/status', 'utf8'))[1])
  seen.push(readFileSync('/proc/' + pid + '/cmdline', 'utf8'))
const data = process.argv[process.argv.indexOf('--data') + 1]
writeFileSync(data + '/called', [process.env.ZHISUAN_TOKEN, ...process.argv.slice(2)].join(' '))
writeFileSync(data + '/seen', seen.join('\\n'))
`
const release = (version: string, text = program(version)): string => {
  const folder = join(app.config.DATA_DIR, 'agents', version)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'agent.mjs'), text)
  return createHash('sha256').update(text).digest('hex')
}

beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  stranger = await someone(app)
  release('9.1.0')
  release('9.2.0')
  release('9.10.0-rc.1')
  mkdirSync(join(app.config.DATA_DIR, 'agents', 'no version'))
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})
afterAll(() => app.close())

const get = (id: string) => call(app, edges.get, { token: owner.token, params: { id } })
const begin = (id: string, version: string, confirm: 'auto' | 'manual' = 'auto') =>
  call(app, edgeUpgrades.upgrade, { token: owner.token, params: { id }, body: { version, confirm } })
const upgraded = (id: string, status: number) => vi.waitFor(async () => expect((await get(id)).upgrade?.status).toBe(status), { interval: 20 })

/** A node whose agent comes back as `next` says: with the version that it was told, or its former one. */
async function node(next: (told: string) => string | null): Promise<{ id: string; told: () => unknown }> {
  let order: { version: string; sha256: string; path: string } | null = null
  const answers: NonNullable<Parameters<typeof startAgent>[2]> = (request, response) => {
    if (request.url !== agentPaths.upgrade) return false
    const stream = response.stream
    let text = ''
    stream.on('data', (part: Buffer) => (text += part.toString('utf8')))
    stream.on('end', () => {
      order = JSON.parse(text) as typeof order
      response.writeHead(202).end('{}')
      setTimeout(() => {
        made.stop()
        const version = next(order?.version ?? '')
        if (version !== null)
          void startAgent(
            app,
            { edgeId: made.edge.id, privateKey: made.privateKey, serverKey: new URL(made.enrolment.url).searchParams.get('key') ?? '' },
            answers,
            { version },
          ).then(({ stop }) => stops.push(stop))
      }, 20)
    })
    return true
  }
  const made = await someNode(app, owner.token, { answers, version: '9.1.0' })
  stops.push(made.stop)
  await vi.waitFor(async () => expect((await get(made.edge.id)).status).toBe('online'))
  return { id: made.edge.id, told: () => order }
}

describe('versions', () => {
  it('are those of the data directory, newest first', async () => {
    const { items } = await call(app, edgeUpgrades.versions, { token: owner.token })
    expect(items.map(({ version }) => version).filter((version) => version.startsWith('9.'))).toEqual(['9.10.0-rc.1', '9.2.0', '9.1.0'])
    expect(items.find(({ version }) => version === '9.2.0')).toMatchObject({
      sha256: createHash('sha256').update(program('9.2.0')).digest('hex'),
      size_bytes: program('9.2.0').length,
    })
  })

  it('are served to whoever asks, and nothing else is', async () => {
    const url = await listening(app)
    expect(await (await fetch(`${url}/agent/9.2.0/agent.mjs`)).text()).toBe(program('9.2.0'))
    for (const path of ['9.9.9', '..%2f..', '%2e%2e', 'no version']) expect((await fetch(`${url}/agent/${path}/agent.mjs`)).status, path).toBe(404)
  })

  it.each([
    ['1.2.3', '1.10.0', -1],
    ['2.0.0', '1.10.0', 1],
    ['1.0.0', '1.0.0-rc.1', 1],
    ['1.0.0-rc.2', '1.0.0-rc.10', -1],
    ['1.0.0', '1.0.0', 0],
  ])('%s beside %s', (one, other, order) => {
    expect(Math.sign(compareVersions(one, other))).toBe(order)
  })
})

describe('the script that the printed command runs', () => {
  const install = async (key: string): Promise<{ data: string; token: string; done: Promise<{ stdout: string }> }> => {
    const { enrolment } = await register(app, owner.token)
    const url = await listening(app)
    const data = join(app.config.DATA_DIR, `node-${key}`)
    const env = { ...process.env, ZHISUAN_PROGRAM_DIR: join(data, 'program'), ZHISUAN_DATA_DIR: data, ZHISUAN_NO_SERVICE: '1' }
    const command = enrolment.command.replaceAll(/http:\/\/[^/']+/g, url).replace('sudo ', '')
    // As somebody types it: a shell reads it.
    const done = run('sh', [], { env })
    done.child.stdin?.end(command)
    return { data, token: enrolment.token, done }
  }

  it('fetches the newest program and enrols with it', async () => {
    const { data, token, done } = await install('fine')
    expect((await done).stdout).toContain('agent.mjs run --data')
    expect(readFileSync(join(data, 'called'), 'utf8')).toMatch(new RegExp(`^${token} enrol --server http:\\S+ --key \\S{59} --data `))
    const seen = readFileSync(join(data, 'seen'), 'utf8')
    expect(seen).toContain('--key')
    expect(seen).not.toContain(token)
    expect(readFileSync(join(data, 'program', 'agent.mjs'), 'utf8')).toBe(program('9.10.0-rc.1'))
  })

  it('brings a Node.js of its own where the node has none', async () => {
    const { enrolment } = await register(app, owner.token)
    const data = join(app.config.DATA_DIR, 'node-bare')
    const bin = join(data, 'bin')
    mkdirSync(bin, { recursive: true })
    for (const tool of ['sh', 'curl', 'sha256sum', 'mkdir', 'chmod', 'mv', 'rm', 'uname', 'cat'])
      symlinkSync((await run('sh', ['-c', `command -v ${tool}`])).stdout.trim(), join(bin, tool))
    const env = { PATH: bin, ZHISUAN_PROGRAM_DIR: join(data, 'program'), ZHISUAN_DATA_DIR: data, ZHISUAN_NO_SERVICE: '1' }
    const done = run(join(bin, 'sh'), [], { env })
    done.child.stdin?.end(enrolment.command.replaceAll(/http:\/\/[^/']+/g, await listening(app)).replace('sudo ', ''))
    expect((await done).stdout).toContain(`${join(data, 'program', 'node')} ${join(data, 'program', 'agent.mjs')} run`)
    expect((await run(join(data, 'program', 'node'), ['--version'])).stdout.trim()).toBe(process.version)
    // Not one that somebody changed on its way.
    const script = await (await fetch(`${await listening(app)}/agent/install.sh`)).text()
    const other = script.replace(/[0-9a-f]{64}(?= {2}\$node)/, '0'.repeat(64))
    const bare = { ...env, ZHISUAN_TOKEN: 't', ZHISUAN_PROGRAM_DIR: join(data, 'other') }
    await expect(run(join(bin, 'sh'), ['-c', other, 'sh', '--server', await listening(app), '--key', 'k'], { env: bare })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SHA-256'),
    })
    expect(existsSync(join(data, 'other', 'node'))).toBe(false)
  })

  it('refuses to be called without what it needs', async () => {
    const script = await (await fetch(`${await listening(app)}/agent/install.sh`)).text()
    await expect(run('sh', ['-c', script, 'sh', '--server', 'http://x'])).rejects.toMatchObject({ code: 2 })
    // A program that is not the one that was announced is not run.
    const other = script.replace(/[0-9a-f]{64}(?= {2}\$program)/, '0'.repeat(64))
    const data = join(app.config.DATA_DIR, 'node-other')
    const env = { ...process.env, ZHISUAN_TOKEN: 't', ZHISUAN_PROGRAM_DIR: join(data, 'program'), ZHISUAN_DATA_DIR: data, ZHISUAN_NO_SERVICE: '1' }
    await expect(run('sh', ['-c', other, 'sh', '--server', await listening(app), '--key', 'k'], { env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SHA-256'),
    })
    await expect(run('ls', [join(data, 'called')])).rejects.toThrow()
  })
})

describe('an upgrade', () => {
  it('is complete when the new version has come', async () => {
    const { id, told } = await node((version) => version)
    const begun = (await begin(id, '9.2.0')).upgrade
    expect(begun).toMatchObject({ from: '9.1.0', to: '9.2.0', error: null })
    // Its work may have begun by the time it is told.
    expect([1, 2]).toContain(begun?.status)
    expect(await refused(app, edgeUpgrades.upgrade, { token: owner.token, params: { id }, body: { version: '9.2.0' } })).toMatchObject({
      status: 409,
      code: 95019,
    })
    await upgraded(id, 40)
    expect(told()).toEqual({ version: '9.2.0', sha256: createHash('sha256').update(program('9.2.0')).digest('hex'), path: '/agent/9.2.0/agent.mjs' })
    expect(await get(id)).toMatchObject({ agent_version: '9.2.0', status: 'online' })
  })

  it('waits for somebody where that is wished', async () => {
    const { id } = await node((version) => version)
    await begin(id, '9.2.0', 'manual')
    await upgraded(id, 4)
    expect(await refused(app, edges.confirm, { token: stranger.token, params: { id }, body: { what: 'upgrade' } })).toMatchObject({ status: 404 })
    expect(await call(app, edges.confirm, { token: owner.token, params: { id }, body: { what: 'upgrade' } })).toMatchObject({ upgrade: { status: 40 } })
    expect(await refused(app, edges.confirm, { token: owner.token, params: { id }, body: { what: 'upgrade' } })).toMatchObject({ code: 90010 })
  })

  it('has failed where the former version comes back', async () => {
    const { id } = await node(() => '9.1.0')
    await begin(id, '9.2.0')
    await upgraded(id, 20)
    expect(await get(id)).toMatchObject({ agent_version: '9.1.0', status: 'online', upgrade: { error: '新版本没有成功接入，节点已回到版本9.1.0' } })
    await begin(id, '9.2.0')
  })

  it('is refused where it makes no sense, and does not exist for others', async () => {
    const { id } = await node((version) => version)
    const refuse = (version: string, token = owner.token, edge = id) => refused(app, edgeUpgrades.upgrade, { token, params: { id: edge }, body: { version } })
    expect(await refuse('9.1.0')).toMatchObject({ code: 95018, fields: [{ field: 'version' }] })
    expect(await refuse('9.9.9')).toMatchObject({ code: 95017 })
    expect(await refuse('../x')).toMatchObject({ code: 90001 })
    expect(await refuse('9.2.0', stranger.token)).toMatchObject({ status: 404 })
    const { edge } = await register(app, owner.token)
    expect(await refuse('9.2.0', owner.token, edge.id)).toMatchObject({ status: 409, code: 95003 })
  })
})
