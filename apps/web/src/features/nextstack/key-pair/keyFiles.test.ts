import { describe, expect, it } from 'vitest'
import { keyLine, looksPrivate } from './keyFiles.ts'

describe('what somebody pastes', () => {
  it.each([
    ['OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----'],
    ['PKCS#1', '-----BEGIN RSA PRIVATE KEY-----\nMIIE'],
    ['PKCS#8', '\n-----BEGIN PRIVATE KEY-----\n'],
    ['encrypted', '-----BEGIN ENCRYPTED PRIVATE KEY-----'],
    ['PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\n'],
  ])('is seen to be a private key: %s', (_, text) => expect(looksPrivate(text)).toBe(true))

  it('is no private key where it is a public one', () => {
    expect(looksPrivate('ssh-ed25519 AAAA me@host')).toBe(false)
    expect(looksPrivate('-----BEGIN PUBLIC KEY-----')).toBe(false)
  })

  it('is read as one line', () => {
    expect(keyLine('\uFEFFssh-ed25519 AAAA me@host\r\n\n')).toBe('ssh-ed25519 AAAA me@host')
  })
})
