import { stackCan, stackStatuses } from '@zhisuan/contract/aos/stack'
import { containerCan, containerStatuses } from '@zhisuan/contract/cis/container'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { errorByCode, errors } from '@zhisuan/contract/errors'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vmCan, vms, vmStatuses } from '@zhisuan/contract/nextstack/vm'
import { volumeCan } from '@zhisuan/contract/nextstack/volume'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { matchPath } from 'react-router'
import { describe, expect, it } from 'vitest'
import texts from '../../locales/zh/help.ts'
import { routerPath, routes } from '../../routes.ts'
import { articleFiles, articleIds, isArticleId, loadArticle, neighbours } from './articles.ts'
import { readErrorAdvice } from './errorAdvice.ts'
import { headingId, linksOf, plainText, readLink, tableOfContents } from './markdown.ts'
import { marked, searchArticles } from './search.ts'

const articles = await Promise.all(articleIds.map(async (id) => ({ id, markdown: await loadArticle(id) })))

describe('the articles', () => {
  it('are each listed once, and every file is listed', () => {
    expect(new Set(articleIds).size).toBe(articleIds.length)
    expect([...articleFiles].sort()).toEqual([...articleIds].sort())
    expect(Object.keys(texts.articles).sort()).toEqual([...articleIds].sort())
  })

  it.each(articles)('$id: headings have ids of their own, and begin at the second degree', ({ markdown }) => {
    const ids = tableOfContents(markdown).map((heading) => heading.id)
    expect(ids.length).toBeGreaterThan(0)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => id !== '')).toBe(true)
    expect(withoutCode(markdown)).not.toMatch(/^# /m)
  })

  it.each(articles)('$id: every link leads somewhere', ({ id, markdown }) => {
    for (const href of linksOf(markdown)) {
      const target = readLink(href)
      switch (target?.kind) {
        case 'article': {
          expect(isArticleId(target.id), href).toBe(true)
          const other = articles.find((article) => article.id === target.id)
          if (target.heading !== null) expect(headingsOf(other?.markdown), `${id} → ${href}`).toContain(target.heading)
          break
        }
        case 'heading':
          expect(headingsOf(markdown), `${id} → ${href}`).toContain(target.heading)
          break
        case 'site': {
          const [path = ''] = target.path.split('#')
          // What the server serves beside the console.
          if (path === '/api/docs' || path === '/api/docs/json') break
          expect(
            routes.some((route) => matchPath(routerPath(route.path), path) !== null),
            href,
          ).toBe(true)
          break
        }
        case 'foreign':
          // An installation may have no way to the Internet.
          expect.fail(`${id} links to ${href}`)
          break
        default:
          expect.fail(`${id}: ${href} is no link`)
      }
    }
  })

  it.each(articles)('$id: every code that it names is in the catalogue', ({ markdown }) => {
    for (const match of markdown.matchAll(/`(\d{4,5})`/g)) expect(errorByCode.has(Number(match[1])), match[0]).toBe(true)
    for (const match of markdown.matchAll(/```error-codes\n([\s\S]*?)```/g)) expect(readErrorAdvice(match[1] ?? '').length).toBeGreaterThan(0)
  })

  it('an advice does not lead from one refusal to another: without a limit only where bandwidth costs nothing', async () => {
    const said = [...(await loadArticle('error-codes')).matchAll(/```error-codes\n([\s\S]*?)```/g)].flatMap((match) => readErrorAdvice(match[1] ?? ''))
    const { advice = '' } = said.find(({ entry }) => entry.code === errors.bandwidthUnsupported.code) ?? {}
    expect(advice).toContain('按 Mbps 计费时须保留上限')
  })

  it.each(articles)('$id: has no HTML, which would not be drawn', ({ markdown }) => {
    expect(withoutCode(markdown)).not.toMatch(/<[a-z/]/i)
  })

  it('say of each refusal of clouds, instances, networks, storage and images what to do', async () => {
    const blocks = [...(await loadArticle('error-codes')).matchAll(/```error-codes\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
    const said = blocks.flatMap(readErrorAdvice).map(({ entry }) => entry.code)
    expect(new Set(said).size).toBe(said.length)
    expect([...errorByCode.keys()].filter((code) => code >= 93000 && code < 95000 && !said.includes(code))).toEqual([])
  })

  it('say what may be done in which state as the contract does', async () => {
    const markdown = await loadArticle('instance-status')
    expect(statesSaid(markdown)).toEqual(vmCan)
    for (const status of ['running', 'stopped', 'paused', 'error', 'lost']) {
      expect(vmStatuses).toContain(status)
      expect(markdown).toContain(`（\`${status}\`）`)
    }
  })

  it('say the same of containers', async () => {
    const markdown = await loadArticle('containers')
    expect(statesSaid(markdown)).toEqual(containerCan)
    for (const status of containerStatuses) expect(markdown).toContain(`（\`${status}\`）`)
  })

  it('say the same of applications', async () => {
    const markdown = await loadArticle('applications')
    expect(statesSaid(markdown)).toEqual(stackCan)
    for (const status of stackStatuses) expect(markdown).toContain(`（\`${status}\`）`)
  })

  it('say the same of volumes', async () => expect(statesSaid(await loadArticle('volumes'))).toEqual(volumeCan))

  it('name no call that the contract does not have', async () => {
    const markdown = await loadArticle('api')
    const named = [...markdown.matchAll(/\$BASE(\/[^"? ]+)/g)].map((match) => (match[1] ?? '').replace(/\$VM/g, '{id}'))
    expect(named.length).toBeGreaterThan(5)
    const calls = [clouds, vms, flavors, images, networks, auth, users].flatMap((resource) => Object.values(resource).map((call) => call.path))
    for (const path of named) expect(calls, path).toContain(path)
  })
})

/** What an article says may be done in which state. */
const statesSaid = (markdown: string): Record<string, string[]> =>
  Object.fromEntries(
    [...markdown.matchAll(/^- \*\*.+\*\*（`(\w+)`）：((?:`\w+`、?)+)$/gm)].map((match) => [
      match[1],
      [...(match[2] ?? '').matchAll(/\w+/g)].map(([status]) => status),
    ]),
  )
const withoutCode = (markdown: string): string => markdown.replace(/```[\s\S]*?```/g, '')
const headingsOf = (markdown = ''): string[] => tableOfContents(markdown).map((heading) => heading.id)

describe('neighbours', () => {
  it('lead through all articles and end there', () => {
    expect(neighbours(articleIds[0] ?? 'api').previous).toBeNull()
    expect(neighbours('api').next).toBeNull()
    expect(neighbours('retrieve-password')).toEqual({ previous: 'sign-in', next: 'personal-information' })
    expect(neighbours('personal-information').next).toBe('single-sign-on')
    expect(neighbours('single-sign-on').next).toBe('create-instance')
  })
})

describe('headingId', () => {
  it.each([
    ['过期后会怎样', '过期后会怎样'],
    ['命令行访问 API', '命令行访问-api'],
    ['复制、粘贴与键盘', '复制粘贴与键盘'],
    ['提示“请求超时”', '提示请求超时'],
  ])('%s → %s', (text, id) => expect(headingId(text)).toBe(id))
})

describe('tableOfContents', () => {
  it('reads headings of the second and third degree, and none from code', () => {
    expect(tableOfContents('# no\n\n## 一 `a`\n\n```bash\n## not a heading\n```\n### **二**\n#### no')).toEqual([
      { depth: 2, text: '一 a', id: '一-a' },
      { depth: 3, text: '二', id: '二' },
    ])
  })
})

describe('readLink', () => {
  it.each([
    ['./licence.md', { kind: 'article', id: 'licence', heading: null }],
    ['./licence.md#%E5%85%AC%E9%92%A5', { kind: 'article', id: 'licence', heading: '公钥' }],
    ['#公钥', { kind: 'heading', heading: '公钥' }],
    ['/license', { kind: 'site', path: '/license' }],
    ['https://example.com/', { kind: 'foreign', url: 'https://example.com/' }],
    ['javascript:alert(1)', null],
    ['//example.com', null],
    ['data:text/html,x', null],
  ])('%s', (href, target) => expect(readLink(href)).toEqual(target))
})

describe('searchArticles', () => {
  const all = articles.map(({ id, markdown }) => ({ id, markdown, ...texts.articles[id] }))

  it('finds a title before a text, and nothing for nothing', () => {
    expect(searchArticles(all, '许可证')[0]?.id).toBe('licence')
    expect(searchArticles(all, '  ')).toEqual([])
    expect(searchArticles(all, '不存在的词语')).toEqual([])
  })

  it('leads to the heading that says it', () => {
    expect(searchArticles(all, '标签').find((one) => one.id === 'register-cloud')?.heading).toBeNull()
    expect(searchArticles(all, '接管 终端').map((one) => one.id)).toContain('terminal')
    expect(searchArticles(all, '过期后').find((one) => one.id === 'licence')?.heading?.id).toBe('过期后会怎样')
  })

  it('finds codes, and words in any case', () => {
    expect(searchArticles(all, '94009').map((one) => one.id)).toContain('error-codes')
    expect(searchArticles(all, 'OPENAPI').map((one) => one.id)).toContain('api')
  })

  it('cites the place', () => {
    const text = plainText('## 一\n\n很长的开头'.padEnd(80, '啊') + '关键词在这里')
    expect(searchArticles([{ id: 'api', title: 't', summary: 's', markdown: text }], '关键词')[0]?.excerpt).toMatch(/^….*关键词在这里$/)
  })
})

describe('marked', () => {
  it('cuts out the words, whatever marks they hold', () => {
    expect(marked('a+b 和 A+B', 'a+b')).toEqual([
      { text: 'a+b', hit: true },
      { text: ' 和 ', hit: false },
      { text: 'A+B', hit: true },
    ])
  })
})
