import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Db } from '../../../platform/db/database.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import type { Secrets } from '../../../platform/secrets.ts'

/** By which the platform's tokens are signed, and known to registries. */
export interface TokenKey {
  readonly privateKey: KeyObject
  /** Self-signed, PEM: what a registry is given as `auth.token.rootcertbundle`. */
  readonly certificate: string
  /** The certificate as tokens carry it (`x5c`, RFC 7515 4.1.6): base64 of its DER. */
  readonly chain: readonly string[]
}

const place = 'registry_key'
const years = 20

/** Made at the first need; of servers that need it at once one makes it. */
export const readTokenKey = (db: Db, secrets: Secrets): Promise<TokenKey> => unrecorded(() => keptOrMade(db, secrets))

async function keptOrMade(db: Db, secrets: Secrets): Promise<TokenKey> {
  const kept = () => db.selectFrom('registry_key').select(['sealed', 'certificate']).executeTakeFirst()
  let row = await kept()
  if (row === undefined) {
    const made = await makeKey()
    await db
      .insertInto('registry_key')
      .values({ one: true, sealed: secrets.seal(made.key, place), certificate: made.certificate })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    row = await kept()
  }
  if (row === undefined) throw new Error('the key for tokens is gone')
  const { certificate } = row
  return {
    privateKey: createPrivateKey(secrets.open(row.sealed, place)),
    certificate,
    chain: [certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')],
  }
}

async function makeKey(): Promise<{ key: string; certificate: string }> {
  // Once in the life of a platform: no start waits for what it loads, and it wants the other before it.
  await import('reflect-metadata')
  const { X509CertificateGenerator } = await import('@peculiar/x509')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 })
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const
  const [signing, verifying] = await Promise.all([
    crypto.subtle.importKey('pkcs8', privateKey.export({ type: 'pkcs8', format: 'der' }), algorithm, true, ['sign']),
    crypto.subtle.importKey('spki', createPublicKey(privateKey).export({ type: 'spki', format: 'der' }), algorithm, true, ['verify']),
  ])
  const now = new Date()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=zhisuan registry tokens',
    notBefore: new Date(now.getTime() - 24 * 3_600_000),
    notAfter: new Date(now.getTime() + years * 365 * 24 * 3_600_000),
    keys: { privateKey: signing, publicKey: verifying },
    signingAlgorithm: algorithm,
  })
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate: certificate.toString('pem') }
}
