import { generateKeyPairSync, sign, X509Certificate, type KeyObject } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ComputeEngine } from '../compute.ts'
import { createLxdEngine } from './engine.ts'
import { begun, ended, startFake, sync, type FakeLxd } from './fake.ts'

interface Identity {
  name: string
  key: string
  cert: string
  keys: { privateKey: KeyObject; publicKey: KeyObject }
}

/** DER: one element. */
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const length =
    content.length < 128
      ? Buffer.from([content.length])
      : content.length < 256
        ? Buffer.from([0x81, content.length])
        : Buffer.from([0x82, content.length >> 8, content.length & 255])
  return Buffer.concat([Buffer.from([tag]), length, content])
}
const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes))
const ecdsaWithSha256 = der(0x30, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const named = (name: string): Buffer => der(0x30, der(0x31, der(0x30, oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))))
const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END ${label}-----\n`

/** An X.509 v3 certificate for no host in particular, as LXD makes for itself; signed by itself or another. */
function identity(name: string, options: { issuer?: Identity; until?: string; ca?: boolean } = {}): Identity {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = options.issuer ?? { name, keys }
  const basic = der(
    0x30,
    oid(0x55, 0x1d, 0x13),
    der(0x01, Buffer.from([0xff])),
    der(0x04, der(0x30, ...(options.ca === true ? [der(0x01, Buffer.from([0xff]))] : []))),
  )
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), Buffer.from(keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-8))])),
    ecdsaWithSha256,
    named(signer.name),
    der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from(options.until ?? '490101000000Z'))),
    named(name),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, basic)),
  )
  const signature = sign('sha256', body, signer.keys.privateKey)
  return {
    name,
    keys,
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem('CERTIFICATE', der(0x30, body, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])))),
  }
}

let server: Identity
let client: Identity
let authority: Identity
let issued: Identity
let fake: FakeLxd
let engine: ComputeEngine

beforeAll(() => {
  server = identity('host')
  client = identity('console')
  authority = identity('authority', { ca: true })
  issued = identity('issued', { issuer: authority })
})
afterEach(async () => {
  await engine.close()
  await fake.close()
})

const start = async (as: Identity): Promise<void> => {
  fake = await startFake({ key: as.key, cert: as.cert, requestCert: true, rejectUnauthorized: false })
}
const open = (serverCertificate?: string, mine = client): ComputeEngine => {
  engine = createLxdEngine({ url: fake.url, clientCertificate: mine.cert, clientKey: mine.key, ...(serverCertificate !== undefined && { serverCertificate }) })
  return engine
}

describe('over HTTPS', () => {
  it('shows the client certificate and takes the pinned server, whatever its name', async () => {
    await start(server)
    let shown: Buffer | undefined
    fake.on('GET /1.0/networks', (response) => {
      shown = (response.socket as TLSSocket).getPeerCertificate().raw
      response.end(JSON.stringify({ type: 'sync', metadata: [] }))
    })
    await open(server.cert).networks.list()
    expect(shown).toEqual(new X509Certificate(client.cert).raw)
    expect(await engine.info()).toMatchObject({ product: 'lxd' })
  })
  it('runs commands and follows events over the same certificates', async () => {
    await start(server)
    fake.on('POST /1.0/instances/one/exec', begun('op', { metadata: { fds: { '0': 'a', '1': 'b', '2': 'c', control: 'd' } } }))
    fake.on('GET /1.0/operations/op/wait', ended({ metadata: { return: 3 } }))
    fake.socket('/1.0/operations/op/websocket', (socket, { query }) => {
      if (query['secret'] === 'b') socket.send(Buffer.from('out'))
      if (query['secret'] === 'b' || query['secret'] === 'c') socket.send('')
    })
    fake.socket('/1.0/events', () => undefined)
    open(server.cert)
    expect(await engine.instances.exec('one', { command: ['true'] })).toEqual({ exitCode: 3, stdout: Buffer.from('out'), stderr: Buffer.alloc(0) })
    for await (const event of engine.events({ signal: new AbortController().signal })) {
      expect(event.type).toBe('connected')
      break
    }
  })
  it('refuses a server with another certificate, on every way to it', async () => {
    await start(identity('host'))
    let events = 0
    fake.socket('/1.0/events', () => {
      events += 1
    })
    open(server.cert)
    await expect(engine.info()).rejects.toMatchObject({ kind: 'unauthorized' })
    await expect(engine.instances.exec('one', { command: ['true'] })).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(fake.seen).toEqual([])
    expect(events).toBe(0)
  })
  it('refuses a server without a pinned certificate that no authority vouches for', async () => {
    await start(server)
    await expect(open().info()).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(fake.seen).toEqual([])
  })
  it('takes a pinned certificate that an authority issued', async () => {
    await start(issued)
    expect(await open(issued.cert).info()).toMatchObject({ product: 'lxd' })
  })
  it('refuses what a pinned authority issued: pinned is the certificate, not what it could sign', async () => {
    await start(issued)
    await expect(open(authority.cert).info()).rejects.toMatchObject({ kind: 'unauthorized', message: 'the server has another certificate than the pinned one' })
    expect(fake.seen).toEqual([])
  })
  it('refuses a pinned certificate that has expired', async () => {
    const old = identity('host', { until: '210101000000Z' })
    await start(old)
    await expect(open(old.cert).info()).rejects.toMatchObject({ kind: 'unauthorized' })
  })
  it('says so when the server does not trust the client', async () => {
    await start(server)
    fake.on('GET /1.0', sync({ auth: 'untrusted', api_extensions: [] }))
    await expect(open(server.cert).info()).rejects.toMatchObject({ kind: 'unauthorized' })
  })
  it.each([
    ['a key that is none', () => ({ ...client, key: 'nonsense' })],
    ['a certificate that is none', () => ({ ...client, cert: 'nonsense' })],
    ['a key of another certificate', () => ({ ...client, key: server.key })],
  ])('says so of %s', async (_, mine) => {
    await start(server)
    await expect(open(server.cert, mine()).info()).rejects.toMatchObject({ kind: 'unauthorized' })
    await expect(engine.instances.exec('one', { command: ['true'] })).rejects.toMatchObject({ kind: 'unauthorized' })
  })
  it('refuses at once an address without TLS, or none, and a pin that is none', async () => {
    await start(server)
    open(server.cert)
    const identityOf = { clientCertificate: client.cert, clientKey: client.key }
    for (const url of ['http://127.0.0.1:8443', 'nonsense', ''])
      expect(() => createLxdEngine({ url, ...identityOf })).toThrow(expect.objectContaining({ kind: 'invalid' }))
    expect(() => createLxdEngine({ url: fake.url, ...identityOf, serverCertificate: 'nonsense' })).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
  it('is unreachable where nobody listens', async () => {
    await start(server)
    await fake.close()
    await expect(open(server.cert).info()).rejects.toMatchObject({ kind: 'unreachable' })
  })
})
