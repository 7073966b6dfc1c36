import type { Registry } from '@zhisuan/contract/ims/registry'

/** Where the registry's machine keeps the certificate of our tokens; whoever runs it may choose another place. */
export const certificateFile = '/etc/docker/registry/token.crt'

/** Any text as YAML's quoted scalar. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** `auth` of the configuration of CNCF distribution: whose tokens it takes. */
export const tokenLines = ({ realm, service, issuer }: NonNullable<Registry['token_service']>): string =>
  [
    'auth:',
    '  token:',
    `    realm: ${quoted(realm)}`,
    `    service: ${quoted(service)}`,
    `    issuer: ${quoted(issuer)}`,
    `    rootcertbundle: ${quoted(certificateFile)}`,
  ].join('\n')

/** `notifications` of the configuration of CNCF distribution: whom it tells of pushes and pulls. */
export const notificationLines = (url: string, secret: string): string =>
  [
    'notifications:',
    '  endpoints:',
    '    - name: zhisuan',
    `      url: ${quoted(url)}`,
    '      headers:',
    `        Authorization: [${quoted(`Bearer ${secret}`)}]`,
    '      timeout: 2s',
    '      threshold: 3',
    '      backoff: 1s',
  ].join('\n')
