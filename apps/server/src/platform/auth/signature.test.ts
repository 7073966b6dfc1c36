import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { parseDictionary, isInnerList, type InnerList } from 'structured-headers'
import { describe, expect, it, vi } from 'vitest'
import { checkDigest, isSignedBy, readSignature, signatureBase, type SignedMessage } from './signature.ts'

/** RFC 9421, B.2: `test-request`. */
const testRequest: SignedMessage = {
  method: 'POST',
  scheme: 'https',
  authority: 'example.com',
  target: '/foo?param=Value&Pet=dog',
  rawHeaders: [
    'Host',
    'example.com',
    'Date',
    'Tue, 20 Apr 2021 02:07:55 GMT',
    'Content-Type',
    'application/json',
    'Content-Digest',
    'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
    'Content-Length',
    '18',
  ],
}
const testBody = Buffer.from('{"hello": "world"}')
/** B.1.5. */
const sharedSecret = Buffer.from('uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==', 'base64')

const inputOf = (text: string): InnerList => {
  const input = [...parseDictionary(text).values()][0]
  if (input === undefined || !isInnerList(input)) throw new Error(text)
  return input
}
const withHeaders = (...headers: string[]): SignedMessage => ({ ...testRequest, rawHeaders: [...testRequest.rawHeaders, ...headers] })
const reasonOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  throw new Error('was taken')
}

describe('the vectors of RFC 9421', () => {
  it('B.2.5: a request by hmac-sha256', () => {
    const base = signatureBase(testRequest, inputOf('sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"'))
    expect(base).toBe(
      [
        '"date": Tue, 20 Apr 2021 02:07:55 GMT',
        '"@authority": example.com',
        '"content-type": application/json',
        '"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
      ].join('\n'),
    )
    const signature = Buffer.from('pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=', 'base64')
    expect(isSignedBy({ base, signature }, sharedSecret)).toBe(true)
    expect(isSignedBy({ base: `${base} `, signature }, sharedSecret)).toBe(false)
    expect(isSignedBy({ base, signature }, 'another')).toBe(false)
  })

  it('2.5: the base of a request', () => {
    expect(
      signatureBase(
        testRequest,
        inputOf('sig1=("@method" "@authority" "@path" "content-digest" "content-length" "content-type");created=1618884473;keyid="test-key-rsa-pss"'),
      ),
    ).toBe(
      [
        '"@method": POST',
        '"@authority": example.com',
        '"@path": /foo',
        '"content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
        '"content-length": 18',
        '"content-type": application/json',
        '"@signature-params": ("@method" "@authority" "@path" "content-digest" "content-length" "content-type");created=1618884473;keyid="test-key-rsa-pss"',
      ].join('\n'),
    )
  })

  it.each([
    ['@method', { method: 'POST' }, 'POST'],
    ['@target-uri', { authority: 'www.example.com', target: '/path?param=value' }, 'https://www.example.com/path?param=value'],
    ['@authority', { authority: 'WWW.Example.com:443' }, 'www.example.com'],
    ['@authority', { scheme: 'http', authority: 'www.example.com:8080' }, 'www.example.com:8080'],
    ['@scheme', { scheme: 'http' }, 'http'],
    ['@request-target', { target: '/path?param=value' }, '/path?param=value'],
    ['@path', { target: '/path?param=value' }, '/path'],
    ['@query', { target: '/path?param=value&foo=bar&baz=bat%2Dman' }, '?param=value&foo=bar&baz=bat%2Dman'],
    ['@query', { target: '/path?queryString' }, '?queryString'],
    ['@query', { target: '/path' }, '?'],
    ['@query', { target: '/path?a?b' }, '?a?b'],
  ])('2.2: %s of %j', (name, message, value) => {
    expect(signatureBase({ ...testRequest, ...message }, inputOf(`a=("${name}")`)).split('\n')[0]).toBe(`"${name}": ${value}`)
  })

  it('2.1: fields that come several times, with spaces around, or empty', () => {
    const message = withHeaders('Cache-Control', 'max-age=60', 'X-Empty-Header', '', 'cache-control', '   must-revalidate ')
    expect(signatureBase(message, inputOf('a=("cache-control" "x-empty-header")')).split('\n').slice(0, 2)).toEqual([
      '"cache-control": max-age=60, must-revalidate',
      '"x-empty-header": ',
    ])
  })
})

describe('a wrong signature', () => {
  it.each([31, 32, 33, 0])('of %i bytes is compared in a time that tells nothing', (length) => {
    const timingSafeEqual = vi.spyOn(crypto, 'timingSafeEqual')
    syncBuiltinESMExports()
    try {
      expect(isSignedBy({ base: 'a', signature: new Uint8Array(length) }, sharedSecret)).toBe(false)
      // Of another length there is nothing to compare.
      expect(timingSafeEqual).toHaveBeenCalledTimes(length === 32 ? 1 : 0)
    } finally {
      timingSafeEqual.mockRestore()
      syncBuiltinESMExports()
    }
  })
})

describe('a signature', () => {
  const parameters = 'created=1618884473;nonce="n";keyid="k"'
  const signed = (input: string, signature = 'a=:AAAA:') => withHeaders('Signature-Input', input, 'Signature', signature)
  const whole = '"@method" "@target-uri" "content-digest"'

  it('is read', () => {
    expect(readSignature(signed(`a=(${whole});${parameters};expires=1618884500;alg="hmac-sha256";tag="t"`))).toMatchObject({
      keyId: 'k',
      created: 1618884473,
      expires: 1618884500,
      nonce: 'n',
      digest: expect.stringContaining('sha-512=:'),
    })
    expect(readSignature(signed(`a=("@path" "content-digest" "@query" "@method" "date");${parameters}`))).toMatchObject({ expires: null })
  })

  it.each([
    ['without @method', `a=("@target-uri" "content-digest");${parameters}`, '@method'],
    ['without a target', `a=("@method" "content-digest");${parameters}`, '@target-uri'],
    ['of the path without the query', `a=("@method" "@path" "content-digest");${parameters}`, '@query'],
    ['without the digest', `a=("@method" "@target-uri");${parameters}`, 'content-digest'],
    ['of a field that is not there', `a=(${whole} "x-missing");${parameters}`, 'x-missing'],
    ['of a field twice', `a=(${whole} "date" "date");${parameters}`, 'date'],
    ['of a part of a field', `a=(${whole} "content-digest";key="sha-512");${parameters}`, 'key='],
    ['of another request', `a=(${whole} "@method";req);${parameters}`, '@method'],
    ['of the method of another request only', `a=("@method";req "@target-uri" "content-digest");${parameters}`, '@method'],
    ['of a status', `a=(${whole} "@status");${parameters}`, '@status'],
    ['of its own parameters', `a=(${whole} "@signature-params");${parameters}`, '@signature-params'],
    ['of a field in capitals', `a=(${whole} "Date");${parameters}`, 'Date'],
    ['without created', `a=(${whole});nonce="n";keyid="k"`, 'created'],
    ['with created as text', `a=(${whole});created="1618884473";nonce="n";keyid="k"`, 'created'],
    ['with a fraction of a second', `a=(${whole});created=1618884473.5;nonce="n";keyid="k"`, 'created'],
    ['without a nonce', `a=(${whole});created=1618884473;keyid="k"`, 'nonce'],
    ['with an empty nonce', `a=(${whole});created=1618884473;nonce="";keyid="k"`, 'nonce'],
    ['with an endless nonce', `a=(${whole});created=1618884473;nonce="${'n'.repeat(129)}";keyid="k"`, 'nonce'],
    ['without a keyid', `a=(${whole});created=1618884473;nonce="n"`, 'keyid'],
    ['by another algorithm', `a=(${whole});${parameters};alg="hmac-sha512"`, 'alg'],
    ['with a parameter that nobody knows', `a=(${whole});${parameters};x=1`, 'x'],
    ['that is no list', `a="@method";${parameters}`, 'Signature-Input'],
    ['that cannot be read', `a=(`, 'Signature-Input'],
    ['of nothing', '', '签名'],
    ['beside another', `a=(${whole});${parameters}, b=(${whole});${parameters}`, '一个签名'],
  ])('%s is refused', (_, input, said) => {
    expect(reasonOf(() => readSignature(signed(input)))).toContain(said)
  })

  it.each([
    ['of another name', 'b=:AAAA:'],
    ['that is no bytes', 'a=1'],
    ['beside another', 'a=:AAAA:, b=:AAAA:'],
  ])('%s is refused', (_, signature) => {
    expect(reasonOf(() => readSignature(signed(`a=(${whole});${parameters}`, signature)))).toMatch(/^请求签名无效/)
  })

  it('needs both of its fields, and a target that is routed', () => {
    expect(reasonOf(() => readSignature(withHeaders('Signature', 'a=:AAAA:')))).toContain('Signature-Input')
    expect(reasonOf(() => readSignature(withHeaders('Signature-Input', `a=(${whole});${parameters}`)))).toContain('Signature-Input')
    expect(reasonOf(() => readSignature({ ...signed(`a=(${whole});${parameters}`), target: 'https://example.com/foo' }))).toContain('/')
  })
})

describe('a digest', () => {
  const sha256 = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'
  const sha512 = testRequest.rawHeaders[7] ?? ''

  it.each([sha256, sha512, `${sha256}, ${sha512}`, `md5=:AAAA:, ${sha256}`])('%s is right (RFC 9530)', (digest) =>
    expect(checkDigest(digest, testBody)).toBeUndefined(),
  )

  it.each([
    ['another body', sha256, Buffer.from('{"hello": "World"}')],
    ['no body', sha256, Buffer.alloc(0)],
    ['one right and one wrong', `${sha256}, sha-512=:AAAA:`, testBody],
    ['only an unknown one', 'md5=:AAAA:', testBody],
    ['none', '', testBody],
    ['text', 'sha-256="X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="', testBody],
    ['none at all', null, testBody],
  ])('%s is refused', (_, digest, body) => expect(() => checkDigest(digest, body)).toThrow())

  it('of nothing may be left out', () => expect(checkDigest(null, Buffer.alloc(0))).toBeUndefined())
})
