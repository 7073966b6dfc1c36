import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createOutboundGuard } from './guard.ts'

describe('the guard', () => {
  const guard = (allow: string[] = [], publicUrl?: string) => createOutboundGuard({ allow, publicUrl })
  const look = (of: ReturnType<typeof guard>, host: string) =>
    promisify(of.lookup as (host: string, wish: object, done: (error: Error | null, addresses: { address: string }[]) => void) => void)(host, { all: true })

  it('looks at what a name resolves to, and lets sockets connect to just that', async () => {
    await expect(guard().check(new URL('http://localhost/x'))).rejects.toMatchObject({ refusal: 'imageAddressForbidden', fields: [{ field: 'url' }] })
    await expect(look(guard(), 'localhost')).rejects.toMatchObject({ refusal: 'imageAddressForbidden' })
    const addresses = await look(guard(['127.0.0.0/8', '::1']), 'localhost')
    expect(addresses.length).toBeGreaterThan(0)
    for (const { address } of addresses) expect(['127.0.0.1', '::1']).toContain(address)
  })

  it('does not let a name through of which one address is allowed and another is not', async () => {
    const both = await look(guard(['127.0.0.0/8', '::1']), 'localhost')
    if (both.length > 1) await expect(look(guard(['127.0.0.1']), 'localhost')).rejects.toMatchObject({ refusal: 'imageAddressForbidden' })
    else await expect(look(guard(['127.0.0.2']), 'localhost')).rejects.toMatchObject({ refusal: 'imageAddressForbidden' })
  })

  it('refuses addresses of this very machine, and its public name', async () => {
    const own = Object.values(networkInterfaces()).flatMap((faces) => (faces ?? []).map(({ address }) => address))
    for (const address of own)
      expect(() => guard().checkLiteral(new URL(`http://${address.includes(':') ? `[${address.split('%')[0]}]` : address}/`))).toThrow('不能从该地址下载镜像')
    await expect(guard([], 'http://1.1.1.1:8080').check(new URL('http://1.1.1.1/x'))).rejects.toMatchObject({ refusal: 'imageAddressForbidden' })
    await expect(guard().check(new URL('http://1.1.1.1/x'))).resolves.toBeUndefined()
  })

  it('judges an address in whatever way it is written', () => {
    for (const url of [
      'http://127.0.0.1',
      'http://2130706433',
      'http://0x7f.1',
      'http://0177.0.0.1',
      'http://127.1',
      'http://[::ffff:127.0.0.1]',
      'http://[0:0:0:0:0:0:0:1]',
    ]) {
      expect(() => guard().checkLiteral(new URL(url)), url).toThrow('不能从该地址下载镜像')
    }
  })

  it('lets a name be that resolves to nothing now', async () => {
    await expect(guard().check(new URL('http://nothing.invalid/x'))).resolves.toBeUndefined()
  })
})
