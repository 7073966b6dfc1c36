import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** Of one connection only. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Which port of a machine is spoken to, as which origin: the browser's own, and the cookie that let it in. */
export interface Place {
  readonly origin: string
  readonly port: number
  readonly cookie: string
}

/** What the machine is told: of a browser that is inside with it, and nothing of the platform. */
export function told(headers: IncomingHttpHeaders, { origin, port, cookie }: Place): OutgoingHttpHeaders {
  const there = `http://127.0.0.1:${port}`
  const named = (text: string | undefined): string | undefined => (text?.startsWith(origin) === true ? there + text.slice(origin.length) : text)
  const cookies = (headers.cookie ?? '')
    .split(/;\s*/)
    .filter((one) => one !== '' && !one.startsWith(`${cookie}=`))
    .join('; ')
  const passed = Object.entries(headers).filter(([name]) => !hopByHop.has(name) && name !== 'cookie')
  return {
    ...Object.fromEntries(passed),
    host: `127.0.0.1:${port}`,
    ...(cookies !== '' && { cookie: cookies }),
    ...(headers.origin !== undefined && { origin: named(headers.origin) }),
    ...(headers.referer !== undefined && { referer: named(headers.referer) }),
  }
}

/** What the browser is told: addresses as it knows them, and cookies for this origin alone. */
export function answered(headers: IncomingHttpHeaders, { origin, port, cookie }: Place): OutgoingHttpHeaders {
  const { location } = headers
  const there = new RegExp(`^https?://(127\\.0\\.0\\.1|localhost):${port}(?=/|$)`)
  return {
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name))),
    ...(headers['set-cookie'] !== undefined && {
      'set-cookie': headers['set-cookie'].filter((one) => !one.startsWith(`${cookie}=`)).map((one) => one.replace(/;\s*domain=[^;]*/i, '')),
    }),
    ...(location !== undefined && { location: location.replace(there, origin) }),
    // Nobody else's page shows it within itself.
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'same-origin',
  }
}
