import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { createAuthority, readGiven, type ServerCertificate } from './authority.ts'

describe('the authority of registries that the platform runs', () => {
  let app: TestApp
  let issued: ServerCertificate
  beforeAll(async () => {
    app = await testApp()
    issued = await createAuthority(app.platform).issue('registry.example.com')
  })
  afterAll(() => app.close())

  it('is one for all, whoever needs it first, and its certificates are for their host alone', async () => {
    const [one, other] = await Promise.all(['a.example.com', '192.0.2.7'].map((host) => createAuthority(app.platform).issue(host)))
    expect(one?.authority).toBe(issued.authority)
    expect(other?.authority).toBe(issued.authority)
    const authority = new X509Certificate(issued.authority ?? '')
    const certificate = new X509Certificate(other?.certificate ?? '')
    expect(certificate.verify(authority.publicKey)).toBe(true)
    expect(certificate.checkIssued(authority)).toBe(true)
    expect([certificate.checkIP('192.0.2.7'), certificate.checkIP('192.0.2.8'), certificate.checkHost('a.example.com')]).toEqual([
      '192.0.2.7',
      undefined,
      undefined,
    ])
  })

  it.each([
    ['another host', () => ({ certificate: issued.certificate, key: issued.key }), 'other.example.com', 'tls.certificate', /证书里没有/],
    [
      'another key',
      async () => ({ certificate: issued.certificate, key: (await createAuthority(app.platform).issue('x.example.com')).key }),
      'registry.example.com',
      'tls.key',
      /不是一对/,
    ],
    [
      'no certificate',
      () => ({ certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', key: issued.key }),
      'registry.example.com',
      'tls.certificate',
      /无法读取/,
    ],
    [
      'no key',
      () => ({ certificate: issued.certificate, key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' }),
      'registry.example.com',
      'tls.key',
      /私钥无法读取/,
    ],
  ])('refuses a given certificate of %s, at its field', async (_, given, host, field, words) => {
    const of = { kind: 'given' as const, ...(await given()) }
    expect(() => readGiven(of, host, new Date(), 'tls')).toThrow(
      expect.objectContaining({
        refusal: 'registryCertificateUnfit',
        message: expect.stringMatching(words) as string,
        fields: [expect.objectContaining({ field }) as object],
      }) as Error,
    )
  })

  it('takes one that fits, until its end', () => {
    const given = { kind: 'given' as const, certificate: issued.certificate, key: issued.key }
    expect(readGiven(given, 'registry.example.com', new Date(), 'tls')).toMatchObject({ authority: null })
    expect(() => readGiven(given, 'registry.example.com', new Date(Date.now() + 500 * 86_400_000), 'tls')).toThrow(/已过期/)
  })
})
