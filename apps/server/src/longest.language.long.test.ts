import { createHash, randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { registriesPath } from '@zhisuan/contract/ims/registry'
import { hubPath, models } from '@zhisuan/contract/models/model'
import { alarms } from '@zhisuan/contract/omc/alarm'
import { monitorPath, prometheus } from '@zhisuan/contract/omc/monitor'
import { mayAccess } from '@zhisuan/contract/roles'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from './testing/app.ts'
import { call } from './testing/call.ts'
import { longFieldsOf, longTexts, sampleOf, slowRequests, urlOf, withAt, type LongRequest } from './testing/longest.ts'
import { someone } from './testing/people.ts'

const MiB = 2 ** 20
/** What a server of HTTP takes as its first line. */
const lineMost = 15_000
const filled = (length: number, piece: string): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
/** A text of a length, with its beginning and its end. */
const between = (start: string, piece: string, end: string) => (length: number) => start + filled(length - start.length - end.length, piece) + end

/** What is worst for a reader of PromQL, and for what narrows its selectors. */
const questions: Readonly<Record<string, (length: number) => string>> = {
  ...longTexts,
  sums: between('a', '+a', ''),
  'sums of all kinds': between('a', ' or a^-a>bool a', ''),
  signs: between('', '-', '1'),
  'deep brackets': (length) => `${'('.repeat(length / 2)}a${')'.repeat(length / 2)}`,
  'brackets of forty': (length) => filled(length - 1, `${'('.repeat(40)}1${')'.repeat(40)}+`) + '1',
  'functions within': between('', 'abs(', ''),
  selectors: between('a', '+a{b="c"}', ''),
  matchers: between('a{', 'b=~".*",', '}'),
  'a pattern': between('a{b=~"', '(a*)*', '"}'),
  labels: between('sum by (', 'a,', 'a) (b)'),
  subqueries: between('a', '[5m:1m]', ''),
  offsets: between('a', ' offset 5m', ''),
  modifiers: between('a', ' @ 1', ''),
  'escaped text': between('a{b="', '\\n', '"}'),
  comments: between('a', '\n#b', '\n'),
  'texts that are not ended': between('', '"a\'b`', ''),
  relabelling: between('', 'label_replace(', ''),
}

describe('a language in which people or machines write to us', () => {
  let app: TestApp
  const tokens = new Map<number, string>()
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(() => app.close())
  const tokenOf =
    (kind: 0 | 1 | 2) =>
    async (anew: boolean): Promise<string> => {
      const token = anew ? undefined : tokens.get(kind)
      if (token !== undefined) return token
      const made = (await someone(app, { kind })).token
      tokens.set(kind, made)
      return made
    }
  const json = { 'content-type': 'application/json' }

  it('a question in PromQL keeps nobody else waiting, whatever it is', async () => {
    const asked = function* (): Generator<LongRequest> {
      for (const [said, make] of Object.entries(questions)) {
        for (const length of [2_000, 2_048, lineMost / 3]) {
          const query = make(length)
          const url = `${urlOf(prometheus.query)}?${new URLSearchParams({ query })}`
          yield { said: `${said}, asked, ${length}`, method: 'GET', url }
          const payload = JSON.stringify({ name: 'a', group: 'a', severity: 'info', rule: { kind: 'promql', query } })
          yield { said: `${said}, watched, ${length}`, method: 'POST', url: urlOf(alarms.create), headers: json, payload }
        }
      }
    }
    expect(await slowRequests(app, tokenOf(2), asked())).toEqual([])
  })

  it('a commit to the hub, and what is said before it', async () => {
    const owner = await someone(app)
    const { namespace, name } = await call(app, models.create, { token: owner.token, body: { namespace: 'longest', name: 'longest', title: 'a' } })
    const at = `${hubPath}/api/models/${namespace}/${name}`
    const line = (key: string, value: unknown): string => `${JSON.stringify({ key, value })}\n`
    const header = line('header', { summary: 'a' })
    const commits: Readonly<Record<string, string>> = {
      'lines of nothing': filled(16 * MiB - 1_000, '\n'),
      'a line of many': `[${filled(16 * MiB - 1_000, '{},')}{}]`,
      'lines of many': filled(16 * MiB - 1_000, `[${filled(60_000, '{},')}{}]\n`),
      'one long line': line('file', { path: 'a', content: 'a'.repeat(15 * MiB) }),
      'deep lines': filled(16 * MiB - 1_000, `${'['.repeat(60_000)}\n`),
      'files of all lines': header + Array.from({ length: 4_999 }, (_, index) => line('file', { path: `a${index}`, content: 'a'.repeat(3_000) })).join(''),
      'files in base64':
        header + Array.from({ length: 300 }, (_, index) => line('file', { path: `a${index}`, content: 'YWFh'.repeat(12_000), encoding: 'base64' })).join(''),
      'deep paths': header + Array.from({ length: 1_999 }, (_, index) => line('file', { path: `${'a/'.repeat(100)}${index}`, content: '' })).join(''),
      'long paths': header + Array.from({ length: 200 }, () => line('file', { path: 'a/'.repeat(30_000), content: '' })).join(''),
      'the same file': header + line('file', { path: 'a', content: '' }).repeat(4_999),
      'folders that go': header + Array.from({ length: 4_999 }, (_, index) => line('deletedFolder', { path: `a${index}${'/'.repeat(500)}` })).join(''),
      'a long word': line('header', { summary: 'e\u0301'.repeat(7 * MiB) }),
    }
    const asked = function* (): Generator<LongRequest> {
      const mebibyte = MiB - 1_000
      const bodies: Readonly<Record<string, string>> = {
        'many keys': longTexts['JSON of many keys'](mebibyte),
        'many of nothing': `{"files":${longTexts['JSON of many'](mebibyte - 20)}}`,
        'many paths': JSON.stringify({ paths: Array.from({ length: 100_000 }, (_, index) => `a${index}`) }),
        'many files': JSON.stringify({ files: Array.from({ length: 10_000 }, (_, index) => ({ path: `a/${index}`, size: index })) }),
        'many objects': JSON.stringify({
          objects: Array.from({ length: 9_000 }, (_, index) => ({ oid: createHash('sha256').update(String(index)).digest('hex'), size: 1 })),
        }),
        'as many as there may be': JSON.stringify({
          objects: Array.from({ length: 1_000 }, (_, index) => ({ oid: createHash('sha256').update(String(index)).digest('hex'), size: 1 })),
        }),
      }
      for (const [said, payload] of Object.entries(commits))
        yield { said: `commit, ${said}`, method: 'POST', url: `${at}/commit/main`, headers: { 'content-type': 'application/x-ndjson' }, payload }
      for (const [said, payload] of Object.entries(bodies)) {
        for (const path of [`${at}/preupload/main`, `${at}/paths-info/main`, `${hubPath}/api/repos/create`, `${hubPath}/api/validate-yaml`])
          yield { said: `${path}, ${said}`, method: 'POST', url: path, headers: json, payload }
        const url = `${hubPath}/${namespace}/${name}.git/info/lfs/objects/batch`
        yield { said: `batch, ${said}`, method: 'POST', url, headers: { 'content-type': 'application/vnd.git-lfs+json' }, payload }
      }
    }
    expect(await slowRequests(app, async (anew) => (anew ? (await someone(app)).token : owner.token), asked())).toEqual([])
  })

  it('what a registry tells', async () => {
    const [id, secret] = [randomUUID(), 'a secret']
    await sql`
      insert into registries (id, name, description, engine, origin, status, url, address, ours, connection, health, created_by_name, notify_hash)
      values (${id}, 'longest', '', 'distribution', 'registered', 'active', 'http://127.0.0.1:1', '127.0.0.1:1', true, '', 'unknown', '', ${createHash('sha256').update(secret).digest()})
    `.execute(app.platform.db)
    const event = (repository: string, more: object = {}) => ({ action: 'push', target: { mediaType: 'a', digest: 'a', repository, ...more } })
    const bodies: Readonly<Record<string, string>> = {
      'many of nothing': `{"events":${longTexts['JSON of many'](4 * MiB - 1_000)}}`,
      'many keys': `{"events":[${longTexts['JSON of many keys'](4 * MiB - 1_000)}]}`,
      brackets: '['.repeat(4 * MiB - 1_000),
      'many events': JSON.stringify({ events: Array.from({ length: 20_000 }, (_, index) => event(`a/${index}`)) }),
      'long words': JSON.stringify({ events: Array.from({ length: 1_000 }, () => event('a/'.repeat(1_500))) }),
      'as many as there may be': JSON.stringify({ events: Array.from({ length: 1_000 }, (_, index) => event(`a/${index}`, { tag: 'a'.repeat(128) })) }),
    }
    const asked = Object.entries(bodies).map(([said, payload]): LongRequest => ({
      said,
      method: 'POST',
      url: `${registriesPath}/${id}/events`,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/vnd.docker.distribution.events.v2+json' },
      payload,
    }))
    expect(await slowRequests(app, null, asked)).toEqual([])
  })

  it('what a Prometheus tells of alerts', async () => {
    const [id, secret] = [randomUUID(), 'a secret']
    await sql`
      insert into monitor_integrations (id, name, description, component, origin, status, url, connection, settings, token_hash, health, created_by_name)
      values (${id}, 'longest', '', 'prometheus', 'registered', 'active', 'http://127.0.0.1:1', '', '{}', ${createHash('sha256').update(secret).digest()}, 'unknown', '')
    `.execute(app.platform.db)
    const alert = (labels: object, annotations: object = {}) => ({ labels, annotations, startsAt: '2026-11-28T00:00:00Z' })
    const bodies: Readonly<Record<string, string>> = {
      'many of nothing': longTexts['JSON of many'](4 * MiB - 1_000),
      'many keys': `[${longTexts['JSON of many keys'](4 * MiB - 1_000)}]`,
      'many labels': JSON.stringify(Array.from({ length: 40 }, () => alert(Object.fromEntries(Array.from({ length: 990 }, (_, index) => [`k${index}`, 'a']))))),
      'long labels': JSON.stringify([alert({ a: 'e\u0301'.repeat(MiB) }, { a: '\0'.repeat(100_000) })]),
      'many alerts': JSON.stringify(Array.from({ length: 2_000 }, (_, index) => alert({ alertname: `a${index}` }))),
      'many of one': JSON.stringify(Array.from({ length: 2_000 }, () => alert({ alertname: 'a' }))),
    }
    const asked = Object.entries(bodies).map(([said, payload]): LongRequest => ({
      said,
      method: 'POST',
      url: `${monitorPath}/prometheus/${id}/scrape/api/v2/alerts`,
      headers: { authorization: `Bearer ${secret}`, ...json },
      payload,
    }))
    expect(await slowRequests(app, null, asked)).toEqual([])
  })

  it('what programs ask a token for, and what a payment tells', async () => {
    const basic = { authorization: `Basic ${Buffer.from(filled(8_000, 'a:')).toString('base64')}` }
    const scopes = {
      'many scopes': filled(lineMost, '&scope=repository:a/b:pull'),
      'a long scope': `&scope=repository:${filled(lineMost, 'a/')}:pull`,
      'many actions': `&scope=repository:a/b:${filled(lineMost, 'pull,')}`,
      'many colons': `&scope=${filled(lineMost, ':')}`,
    }
    const token = '/api/ims/v1/docker/token'
    expect((await app.http.inject({ method: 'GET', url: token })).statusCode).not.toBe(404)
    const asked = Object.entries(scopes).flatMap(([said, scope]): LongRequest[] => [
      { said, method: 'GET', url: `${token}?service=a${scope}`, headers: basic },
      {
        said: `${said}, as a form`,
        method: 'POST',
        url: token,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: `grant_type=password&username=a&password=a&service=a${filled(65_000 - 60, scope)}`,
      },
    ])
    expect(await slowRequests(app, null, asked)).toEqual([])
  })

  it.each(
    allCalls.filter(({ method, query }) => (method === 'GET' || method === 'DELETE') && longFieldsOf(query).length > 0).map((one) => [one.id, one] as const),
  )('what %s is asked by', async (_, of) => {
    const sample = sampleOf(of.query, false)
    const asked = function* (): Generator<LongRequest> {
      for (const { path, kind, most } of longFieldsOf(of.query)) {
        if (kind !== 'text') continue
        for (const [said, make] of Object.entries(longTexts)) {
          const text = make(Math.min(most, lineMost / 3))
          const query = Object.entries(withAt(sample, path, text) as Record<string, unknown>).flatMap(([name, value]) =>
            value === undefined ? [] : [[name, String(value)] as [string, string]],
          )
          yield { said: `${of.id} ${path.join('.')}, ${said}`, method: of.method, url: `${urlOf(of)}?${new URLSearchParams(query)}` }
        }
      }
    }
    const kind = mayAccess(of.access, { kind: 2, roles: ['TENANT_ADMIN'] }) ? 2 : 0
    expect(await slowRequests(app, tokenOf(kind), asked())).toEqual([])
  })
})
