import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, X509Certificate, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { fillText } from '@zhisuan/contract/errors'
import type { RegistryTls } from '@zhisuan/contract/ims/registry'
import { certificateTexts } from '@zhisuan/contract/texts'
import type { Db } from '../../../platform/db/database.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Secrets } from '../../../platform/secrets.ts'

/** By what a registry is known: PEM. */
export interface ServerCertificate {
  readonly certificate: string
  readonly key: string
  /** Whom programs have to trust; null where they do anyway. */
  readonly authority: string | null
  readonly endsAt: Date
}

const place = 'registry_authority'
const dayMs = 24 * 3_600_000
const authorityDays = 20 * 365
/** Programs take none that are good for longer. */
const serverDays = 397
/** So long before its end one is made anew. */
export const renewBeforeMs = 60 * dayMs
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

const x509 = async () => {
  // No start waits for what it loads, and it wants the other before it.
  await import('reflect-metadata')
  return import('@peculiar/x509')
}
const imported = (key: KeyObject) => ({
  signing: () => crypto.subtle.importKey('pkcs8', key.export({ type: 'pkcs8', format: 'der' }), algorithm, true, ['sign']),
  verifying: () => crypto.subtle.importKey('spki', createPublicKey(key).export({ type: 'spki', format: 'der' }), algorithm, true, ['verify']),
})
const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const textOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const span = (days: number) => ({ notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + days * dayMs) })
const serialNumber = (): string => `01${randomBytes(15).toString('hex')}`

async function makeAuthority(): Promise<{ key: string; certificate: string }> {
  const { X509CertificateGenerator, BasicConstraintsExtension, KeyUsagesExtension, KeyUsageFlags } = await x509()
  const key = newKey()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: 'CN=zhisuan registry authority',
    ...span(authorityDays),
    keys: { privateKey: await imported(key).signing(), publicKey: await imported(key).verifying() },
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(true, 0, true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true)],
  })
  return { key: textOf(key), certificate: certificate.toString('pem') }
}

/** The authority of the registries that the platform runs: made at the first need, its key sealed. */
export function createAuthority({ db, secrets }: { db: Db; secrets: Secrets }) {
  const read = async (): Promise<{ sealed: string; certificate: string }> => {
    const kept = () => db.selectFrom('registry_authority').select(['sealed', 'certificate']).executeTakeFirst()
    const there = await kept()
    if (there !== undefined) return there
    const made = await makeAuthority()
    await db
      .insertInto('registry_authority')
      .values({ one: true, sealed: secrets.seal(made.key, place), certificate: made.certificate })
      // Of servers that need it at once one makes it.
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const now = await kept()
    if (now === undefined) throw new Error('the authority of registries is gone')
    return now
  }

  return {
    /** For a name or an IP address. */
    async issue(host: string): Promise<ServerCertificate> {
      // Made at the first need, which is nothing that somebody did.
      const { sealed, certificate: authority } = await unrecorded(read)
      const {
        X509CertificateGenerator,
        X509Certificate: Certificate,
        BasicConstraintsExtension,
        ExtendedKeyUsageExtension,
        SubjectAlternativeNameExtension,
      } = await x509()
      const key = newKey()
      const { notBefore, notAfter } = span(serverDays)
      const certificate = await X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        // A common name has 64 characters at most, and nobody looks at it.
        subject: 'CN=zhisuan registry',
        issuer: new Certificate(authority).subject,
        notBefore,
        notAfter,
        publicKey: await imported(key).verifying(),
        signingKey: await imported(createPrivateKey(secrets.open(sealed, place))).signing(),
        signingAlgorithm: algorithm,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']),
          new SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
        ],
      })
      return { certificate: certificate.toString('pem'), key: textOf(key), authority, endsAt: notAfter }
    },
  }
}
export type RegistryAuthority = ReturnType<typeof createAuthority>

/** @throws Refusal that says what is wrong with it, at its field */
export function readGiven(given: Extract<RegistryTls, { kind: 'given' }>, host: string, now: Date, field: string): ServerCertificate {
  const unfit = (part: string, reason: string, cause?: unknown): Refusal =>
    new Refusal('registryCertificateUnfit', { field: `${field}.${part}`, values: { reason }, ...(cause !== undefined && { cause }) })
  const certificate = (() => {
    try {
      return new X509Certificate(given.certificate)
    } catch (error) {
      throw unfit('certificate', certificateTexts.unreadable, error)
    }
  })()
  const key = (() => {
    try {
      return createPrivateKey(given.key)
    } catch (error) {
      throw unfit('key', certificateTexts.keyUnreadable, error)
    }
  })()
  if (!certificate.checkPrivateKey(key)) throw unfit('key', certificateTexts.keyOther)
  if ((isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) === undefined)
    throw unfit('certificate', fillText(certificateTexts.hostOther, { host }))
  const endsAt = new Date(certificate.validTo)
  if (endsAt <= now) throw unfit('certificate', certificateTexts.ended)
  return { certificate: given.certificate, key: given.key, authority: given.certificate_authority ?? null, endsAt }
}
