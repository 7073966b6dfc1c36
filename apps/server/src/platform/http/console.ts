import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { Refusal } from '../errors.ts'
import type { PageHead } from '../module.ts'

/** Which files a page of the console needs, as its build says (apps/web/early.ts). */
interface PagePreloads {
  readonly pattern: string
  /** Whether only who has signed in sees it. */
  readonly inside: boolean
  readonly scripts: readonly string[]
  readonly styles: readonly string[]
}

/**
 * Serves the built console: hashed assets for a year, the page itself always fresh, and the page
 * for every path that is not an API's, so that its own router decides.
 */
export async function serveConsole(
  app: FastifyInstance,
  config: Pick<Config, 'WEB_DIR' | 'ZHISUAN_ENV' | 'PUBLIC_URL'>,
  headOf: (path: string) => Promise<PageHead | null> = async () => null,
): Promise<void> {
  const index = join(config.WEB_DIR, 'index.html')
  if (!existsSync(index)) {
    app.log.warn({ path: index }, 'the console is not built: only the API is served')
    app.setNotFoundHandler(() => {
      throw new Refusal('callUnknown')
    })
    return
  }
  const pageAt = readPages(index, join(config.WEB_DIR, '.vite/preloads.json'))
  await app.register(fastifyStatic, {
    root: config.WEB_DIR,
    index: false,
    wildcard: false,
    preCompressed: true,
    setHeaders: (response, path) => {
      response.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    // A missing file must not be answered with a page: a browser would run it as a script.
    if (!['GET', 'HEAD'].includes(request.method) || /^\/(api|assets|terms)\//.test(path)) throw new Refusal('callUnknown')
    const page = pageAt(path, request.cookies['token'] !== undefined)
    const head = await headOf(path).catch((error: unknown) => {
      request.log.warn({ err: error }, 'what a page is about could not be told')
      return null
    })
    if (head !== null) {
      const told = withHead(page, head, new URL(path, config.PUBLIC_URL ?? `${request.protocol}://${request.host}`).href)
      return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(told)
    }
    return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(page)
  })
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** For whoever shows links as cards and runs no script: title, description, and Open Graph (ogp.me). */
function withHead(page: string, { title, description, site }: PageHead, url: string): string {
  const tags = [
    ['name', 'description', description],
    ['property', 'og:type', 'website'],
    ['property', 'og:site_name', site],
    ['property', 'og:title', title],
    ['property', 'og:description', description],
    ['property', 'og:url', url],
    ['name', 'twitter:card', 'summary'],
  ] as const
  const lines = tags.filter(([, , content]) => content !== '').map(([kind, name, content]) => `<meta ${kind}="${name}" content="${escaped(content)}">`)
  return page.replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(title)}</title>`).replace('</head>', () => [...lines, '</head>'].join('\n'))
}

/** The page as an address needs it: with all of its files named at its head, so that a browser loads them at once and not one after the other. */
function readPages(index: string, preloads: string): (path: string, signedIn: boolean) => string {
  const page = readFileSync(index, 'utf8')
  const listed = existsSync(preloads) ? (JSON.parse(readFileSync(preloads, 'utf8')) as readonly PagePreloads[]) : []
  const pages = listed.map(({ pattern, inside, scripts, styles }) => ({
    pattern: new RegExp(pattern),
    inside,
    page: page.replace('</head>', () =>
      [
        ...scripts.map((file) => `<link rel="modulepreload" crossorigin href="${file}">`),
        ...styles.map((file) => `<link rel="stylesheet" crossorigin href="${file}">`),
        '</head>',
      ].join('\n'),
    ),
  }))
  // Whoever has not signed in is led elsewhere.
  return (path, signedIn) => pages.find(({ pattern, inside }) => pattern.test(path) && (signedIn || !inside))?.page ?? page
}
