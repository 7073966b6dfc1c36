import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { fileEntries, fileSpaces, fileUploads } from '@zhisuan/contract/files/file'
import { machineCopies, type MachineCopy } from '@zhisuan/contract/files/machine'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Files between a space and a real instance. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('files between a space and an instance on LXD', () => {
  const engine = createLxdEngine({ socketPath })
  let data: TemporaryFolder
  let server: RunningServer
  let owner: Client
  let id = ''
  let name = ''
  let space = ''

  beforeAll(async () => {
    data = temporaryFolder('lxd-space')
    server = await startServer(data.path)
    await asAdministrator(server)
    const { username, password } = await register(server.url, 'lxd-space')
    owner = new Client(server.url)
    await owner.signIn(username, password)
    const cloud_id = (await owner.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id }
    const image = await until(async () => (await owner.call(images.list, { query })).items.find((one) => one.name === 'busybox'), 'the first image')
    const [network] = (await owner.call(networks.list, { query })).items
    const flavor = (await owner.call(flavors.list)).items.find((one) => one.name === 'nano')
    const about = { cloud_id, name: 'space', type: 'container', image_fingerprint: image.fingerprint, network: network?.name, flavor_id: flavor?.id }
    const { items } = await owner.call(vms.create, { body: { ...about, password: 'Space-test-1' } })
    id = items[0]?.id ?? ''
    name = `zs-${id.replaceAll('-', '')}`
    await until(async () => (await owner.call(vms.get, { params: { id } })).status === 'running', 'the instance to run')
    space = (await owner.call(fileSpaces.list, {})).items[0]?.id ?? ''
  })
  afterAll(async () => {
    await server?.stop()
    if ((await engine.instances.list()).some((one) => one.name === name)) await engine.instances.delete(name)
    await engine.close()
    data?.remove()
  })

  const machine = () => ({ kind: 'nextstack.vm' as const, id })
  const inside = async (script: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await engine.instances.exec(name, { command: ['sh', '-c', script] })
    if (exitCode !== 0) throw new Error(stderr.toString())
    return stdout.toString().trim()
  }
  const put = async (called: string, bytes: Buffer, folders: string[] = []): Promise<string> => {
    const upload = await owner.call(fileSpaces.upload, { params: { id: space }, body: { name: called, size_bytes: bytes.length, folders } })
    const headers = { ...owner.authorization, 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    await fetch(`${server.url}${upload.upload_path}`, { method: 'PATCH', headers, body: new Uint8Array(bytes) })
    return until(async () => (await owner.call(fileUploads.get, { params: { id: upload.id } })).entry_id, `${called} to be verified`)
  }
  const ended = (copy: Pick<MachineCopy, 'id'>): Promise<MachineCopy> =>
    until(async () => {
      const one = (await owner.call(machineCopies.list, { params: machine() })).items.find((item) => item.id === copy.id)
      return one !== undefined && one.ended_at !== null && one
    }, 'a copy to end')
  const send = async (entry_id: string, path: string) => ended(await owner.call(machineCopies.toMachine, { body: { machine: machine(), path, entry_id } }))
  const bring = async (path: string) => ended(await owner.call(machineCopies.fromMachine, { body: { machine: machine(), path, space_id: space } }))
  const named = async (keyword: string) => (await owner.call(fileSpaces.entries, { params: { id: space }, query: { keyword } })).items

  it('go in whole and are listed; come out verified, without links; and what is nowhere is told', async () => {
    const bytes = randomBytes(30_000_000)
    const file = await put('a file.bin', bytes, ['文件夹'])
    const folder = (await owner.call(fileEntries.get, { params: { id: file } })).path[0]?.id ?? ''
    await inside('mkdir -p /data')
    expect(await send(file, '/data')).toMatchObject({ status: 'done', name: 'a file.bin' })
    expect(await send(folder, '/data')).toMatchObject({ status: 'done', name: '文件夹' })
    expect(await inside('sha256sum "/data/文件夹/a file.bin"')).toContain(sha256Of(bytes))
    const { items } = await owner.call(vms.files, { params: { id }, query: { path: '/data' } })
    expect(items.map(({ name: called, kind, size_bytes }) => [called, kind, kind === 'file' ? size_bytes : 0]).toSorted()).toEqual([
      ['a file.bin', 'file', bytes.length],
      ['文件夹', 'directory', 0],
    ])
    await inside('mkdir -p /out/deep && head -c 2000000 /dev/urandom > /out/deep/one && : > /out/空 && ln -s /etc/passwd /out/link')
    expect(await bring('/out')).toMatchObject({ status: 'done', name: 'out', skipped_count: 1, done_bytes: 2_000_000 })
    const [one] = await named('one')
    expect(await inside('sha256sum /out/deep/one')).toContain(one?.sha256)
    expect((await named('空')).map(({ size_bytes }) => size_bytes)).toEqual([0])
    expect(await named('link')).toEqual([])
    await expect(owner.call(vms.files, { params: { id }, query: { path: '/nowhere' } })).rejects.toThrow('97612')
  })
})
