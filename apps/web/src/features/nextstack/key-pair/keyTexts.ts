import type { TFunction } from 'i18next'

/** SSH's names of algorithms, by the keys of their messages. */
const known = {
  'ssh-ed25519': 'ed25519',
  'ssh-rsa': 'rsa',
  'ecdsa-sha2-nistp256': 'p256',
  'ecdsa-sha2-nistp384': 'p384',
  'ecdsa-sha2-nistp521': 'p521',
  'sk-ssh-ed25519@openssh.com': 'tokenEd25519',
  'sk-ecdsa-sha2-nistp256@openssh.com': 'tokenP256',
} as const
const isKnown = (algorithm: string): algorithm is keyof typeof known => algorithm in known

/** `ssh-ed25519` as people call it; others by their own names. */
export const algorithmText = (t: TFunction<'nextstackCompute'>, algorithm: string): string =>
  isKnown(algorithm) ? t(`keyPair.algorithm.${known[algorithm]}`) : algorithm
