import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { fileEntries, fileSpaces, fileUploads } from '@zhisuan/contract/files/file'
import { machineCopies } from '@zhisuan/contract/files/machine'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { EngineError } from '@zhisuan/engines/errors'
import { anyPort } from '@zhisuan/engines/registry/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { deny, isDenied, keeping } from '../../../testing/policies.ts'
import { sendPiece, sha256Of } from '../../../testing/uploads.ts'
import { machineOf } from './vm.files.ts'

describe('files of an instance', () => {
  let app: TestApp
  let owner: Person & SignedIn
  let stranger: Person & SignedIn
  let id: string
  let url: string

  beforeAll(async () => {
    const port = await anyPort()
    url = `http://127.0.0.1:${port}`
    app = await testApp({ PUBLIC_URL: url })
    await app.http.listen({ port, host: '127.0.0.1' })
    owner = await someone(app)
    stranger = await someone(app)
    const admin = await someone(app, { kind: 1 })
    const { cloud_id } = await call(app, clouds.create, {
      token: admin.token,
      body: { name: 'sandbox', product: 'nextstack', connection: { type: 'sandbox' } },
    })
    const { items: offered } = await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })
    const { items: sizes } = await call(app, flavors.list, { token: owner.token })
    const about = { cloud_id, name: 'vm', type: 'container' as const, image_fingerprint: offered[0]?.fingerprint ?? '', flavor_id: sizes[0]?.id ?? '' }
    const { items } = await call(app, vms.create, { token: owner.token, body: { ...about, network: 'sandbox0', password: 'Correct-horse-1' } })
    id = items[0]?.id ?? ''
    await vi.waitFor(async () => expect(await call(app, vms.get, { token: owner.token, params: { id } })).toMatchObject({ status: 'running' }), 10_000)
  })
  afterAll(() => app.close())

  const list = (path: string) => ({ token: owner.token, params: { id }, query: { path } })
  const spaceOf = async ({ token }: SignedIn): Promise<string> => (await call(app, fileSpaces.list, { token })).items[0]?.id ?? ''
  const bring = async (who: SignedIn, path: string) => ({
    token: who.token,
    body: { machine: { kind: 'nextstack.vm' as const, id }, path, space_id: await spaceOf(who) },
  })

  it('are walked; come in from a space, and back to it, with what they hold', async () => {
    const bytes = randomBytes(70_000)
    const space = await spaceOf(owner)
    const upload = await call(app, fileSpaces.upload, {
      token: owner.token,
      params: { id: space },
      body: { name: 'in.bin', size_bytes: bytes.length, folders: ['资料'] },
    })
    await sendPiece(url, owner.token, upload, 0, new Uint8Array(bytes))
    const { entry_id } = await call(app, fileUploads.get, { token: owner.token, params: { id: upload.id } })
    const folder = (await call(app, fileEntries.get, { token: owner.token, params: { id: entry_id ?? '' } })).path[0]?.id ?? ''
    const ended = (copy: { id: string }) =>
      vi.waitFor(async () => {
        const { items } = await call(app, machineCopies.list, { token: owner.token, params: { kind: 'nextstack.vm', id } })
        const one = items.find((item) => item.id === copy.id)
        expect(one?.ended_at).toMatch(/T/)
        return one
      }, 10_000)
    const machine = { kind: 'nextstack.vm' as const, id }
    const sent = await call(app, machineCopies.toMachine, { token: owner.token, body: { machine, path: '/root', entry_id: folder } })
    expect(await ended(sent)).toMatchObject({ status: 'done', name: '资料', done_bytes: bytes.length })
    expect((await call(app, vms.files, list('/root/资料'))).items).toMatchObject([{ name: 'in.bin', kind: 'file', size_bytes: bytes.length, mode: '0644' }])
    const brought = await call(app, machineCopies.fromMachine, await bring(owner, '/root/资料/in.bin'))
    expect(await ended(brought)).toMatchObject({ status: 'done', name: 'in.bin' })
    const kept = await call(app, fileSpaces.entries, { token: owner.token, params: { id: space }, query: {} })
    expect(kept.items).toMatchObject([{ name: '资料' }, { name: 'in.bin', sha256: sha256Of(bytes) }])
  })

  it('are not there for others, nor where nothing is, and a denial of its terminal refuses', async () => {
    expect(await refused(app, vms.files, { ...list('/root'), token: stranger.token })).toMatchObject({ status: 404 })
    expect(await refused(app, vms.files, list('/nowhere'))).toMatchObject({ code: 97612, fields: [{ field: 'path' }] })
    expect(await refused(app, vms.files, list('root'))).toMatchObject({ fields: [{ field: 'path' }] })
    expect(await refused(app, machineCopies.fromMachine, await bring(stranger, '/root'))).toMatchObject({ status: 404 })
    const person = await makeUser(app, { kind: 4, organisation: owner.bp_id })
    const signed = await signIn(app, person)
    const { makePolicy, give } = keeping(app)
    await give(owner, await makePolicy(owner, [deny('nextstack.terminal.open')]), { user_id: person.id })
    expect(await isDenied(app, signed, machineCopies.fromMachine, { body: (await bring(signed, '/root')).body })).toBe(true)
  })
})

describe('a folder whose files change while it is read', () => {
  it('is brought as it is found: what has grown has the length that it was opened with, what is gone is passed over', async () => {
    const listed = (name: string, size: number) => `-rw-r--r-- 1 0 0 ${size} 2026-11-28 10:00:00.000000000 +0000 ${name}\n`
    const said = (text: string, exitCode = 0) => ({ exitCode, stdout: Buffer.from(text), stderr: Buffer.alloc(0) })
    const machine = machineOf(
      'vm',
      {
        instances: {
          exec: async (_name, { command }) => {
            const at = command.at(-1)
            if (at === '/var/log') return said('drwxr-xr-x 2 0 0 4096 2026-11-28 10:00:00.000000000 +0000 /var/log\n')
            if (at === '/var/log/') return said(listed('app.log', 5) + listed('gone.log', 7))
            return said('', 2)
          },
          readFile: async (_name, path) => {
            if (path.endsWith('gone.log')) throw new EngineError('not_found', 'no such file')
            return { content: Readable.from([Buffer.from('hello, more')]), sizeBytes: 11 }
          },
          writeFile: async () => undefined,
        },
      },
      'vm',
    )
    const items = []
    for await (const item of machine.read('/var/log', new AbortController().signal))
      items.push(item.kind === 'file' ? [item.path, item.size_bytes, (await buffer(item.content)).length] : [item.path, item.kind])
    expect(items).toEqual([
      ['', 'folder'],
      ['app.log', 11, 11],
      ['gone.log', 'other'],
    ])
  })
})
