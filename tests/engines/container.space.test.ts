import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { containers } from '@zhisuan/contract/cis/container'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { fileEntries, fileSpaces, fileUploads } from '@zhisuan/contract/files/file'
import { machineCopies, type MachineCopy } from '@zhisuan/contract/files/machine'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const docker = createDocker(socketTransport())
const image = `zs-space-${randomUUID().slice(0, 8)}:1`
const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Files between a space and a real container, through a whole server and a whole agent. */
describe.skipIf(!dockerIsThere)('files between a space and a container', () => {
  let data: TemporaryFolder
  let port: number
  let server: RunningServer
  let agent: RunningAgent
  let owner: Client
  let person: Awaited<ReturnType<typeof register>>
  let space = ''
  let id = ''
  let docker_id = ''

  const start = async (): Promise<void> => {
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', PORT: String(port) })
  }
  const inside = async (...command: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await docker.execs.run(docker_id, { command })
    if (exitCode !== 0) throw new Error(stderr.toString())
    return stdout.toString().trim()
  }

  beforeAll(async () => {
    await importBusybox(docker, image)
    data = temporaryFolder('space')
    port = await freePort()
    await start()
    await asAdministrator(server)
    person = await register(server.url, 'space')
    owner = new Client(server.url)
    await owner.signIn(person.username, person.password)
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await owner.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online')
    const { items } = await owner.call(containers.deploy, {
      body: { name: 'space', spec: { image, restart: 'no', command: ['sh', '-c', 'mkdir -p /data; exec sleep 1000'] }, placement: { edge_ids: [edge.id] } },
    })
    id = items[0]?.id ?? ''
    await until(async () => (await owner.call(containers.get, { params: { id } })).status === 'running', 'the container to run')
    docker_id = (await docker.containers.list({ labels: [`zhisuan.container=${id}`] }))[0]?.id ?? ''
    space = (await owner.call(fileSpaces.list, {})).items[0]?.id ?? ''
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    if (docker_id !== '') await docker.containers.remove(docker_id, { force: true, volumes: true })
    for (const one of await docker.images.list()) if (one.tags.includes(image)) await docker.images.remove(one.id, { force: true })
    data?.remove()
  })

  const machine = () => ({ kind: 'cis.container' as const, id })
  const put = async (name: string, bytes: Buffer, folders: string[] = []): Promise<string> => {
    const upload = await owner.call(fileSpaces.upload, { params: { id: space }, body: { name, size_bytes: bytes.length, folders } })
    const headers = { ...owner.authorization, 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    await fetch(`${server.url}${upload.upload_path}`, { method: 'PATCH', headers, body: new Uint8Array(bytes) })
    return until(async () => (await owner.call(fileUploads.get, { params: { id: upload.id } })).entry_id, `${name} to be verified`)
  }
  const ended = (copy: Pick<MachineCopy, 'id'>): Promise<MachineCopy> =>
    until(async () => {
      const one = (await owner.call(machineCopies.list, { params: machine() })).items.find((item) => item.id === copy.id)
      return one !== undefined && one.ended_at !== null && one
    }, 'a copy to end')
  const send = (entry_id: string, path: string) => owner.call(machineCopies.toMachine, { body: { machine: machine(), path, entry_id } })
  const bring = (path: string) => owner.call(machineCopies.fromMachine, { body: { machine: machine(), path, space_id: space } })
  const named = async (keyword: string) => (await owner.call(fileSpaces.entries, { params: { id: space }, query: { keyword } })).items

  it('a file and a folder go in whole, and nothing half done is left beside them', async () => {
    const bytes = randomBytes(40_000_000)
    const top = await put('a file.bin', bytes, ['文件夹'])
    const folder = (await owner.call(fileEntries.get, { params: { id: top } })).path[0]?.id ?? ''
    await put('空.txt', Buffer.alloc(0), ['文件夹', 'sub'])
    expect(await ended(await send(top, '/data'))).toMatchObject({ status: 'done', name: 'a file.bin' })
    expect(await ended(await send(folder, '/data'))).toMatchObject({ status: 'done', name: '文件夹' })
    expect(await inside('sha256sum', '/data/a file.bin', '/data/文件夹/a file.bin')).toBe(
      `${sha256Of(bytes)}  /data/a file.bin\n${sha256Of(bytes)}  /data/文件夹/a file.bin`,
    )
    expect((await inside('find', '/data')).split('\n').toSorted()).toEqual([
      '/data',
      '/data/a file.bin',
      '/data/文件夹',
      '/data/文件夹/a file.bin',
      '/data/文件夹/sub',
      '/data/文件夹/sub/空.txt',
    ])
  })

  it('a directory comes out with its hard links; symbolic ones are left and counted', async () => {
    await inside('sh', '-c', 'mkdir -p /out/deep && head -c 3000000 /dev/urandom > /out/deep/one && ln /out/deep/one /out/two && ln -s /etc/passwd /out/link')
    expect(await ended(await bring('/out'))).toMatchObject({ status: 'done', name: 'out', skipped_count: 1, done_bytes: 6_000_000 })
    const digest = (await inside('sha256sum', '/out/deep/one')).split(' ')[0]
    expect((await named('one')).map(({ sha256 }) => sha256)).toEqual([digest])
    expect((await named('two')).map(({ sha256 }) => sha256)).toEqual([digest])
    expect(await named('link')).toEqual([])
  })

  it('goes on after the server was killed in the middle, both ways', async () => {
    const bytes = randomBytes(200_000_000)
    const entry = await put('big.bin', bytes)
    const killed = async (begin: () => Promise<MachineCopy>): Promise<MachineCopy> => {
      const copy = await begin()
      await until(
        async () => ((await owner.call(machineCopies.list, { params: machine() })).items.find((one) => one.id === copy.id)?.status ?? '') !== 'waiting',
        'it to begin',
      )
      server.process.kill('SIGKILL')
      await server.ended
      await start()
      return ended(copy)
    }
    expect(await killed(() => send(entry, '/data'))).toMatchObject({ status: 'done' })
    expect(await inside('sha256sum', '/data/big.bin')).toContain(sha256Of(bytes))
    expect(await inside('find', '/data', '-name', '*.part')).toBe('')
    await inside('mv', '/data/big.bin', '/data/back.bin')
    expect(await killed(() => bring('/data/back.bin'))).toMatchObject({ status: 'done' })
    expect((await named('back')).map(({ name, sha256 }) => [name, sha256])).toEqual([['back.bin', sha256Of(bytes)]])
  }, 400_000)

  it('both ways while the container does not run', async () => {
    await docker.containers.stop(docker_id, { graceSeconds: 0 })
    await until(async () => (await owner.call(containers.get, { params: { id } })).status === 'exited', 'the container to have exited')
    const bytes = randomBytes(1_000)
    expect(await ended(await send(await put('still.bin', bytes), '/data'))).toMatchObject({ status: 'done' })
    expect(
      await ended(
        await owner.call(machineCopies.fromMachine, { body: { machine: machine(), path: '/data/still.bin', space_id: space, conflict: 'keep_both' } }),
      ),
    ).toMatchObject({
      status: 'done',
      name: 'still (1).bin',
    })
    expect((await named('still')).map(({ sha256 }) => sha256)).toEqual([sha256Of(bytes), sha256Of(bytes)])
  })
})
