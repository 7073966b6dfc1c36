import { vms } from '@zhisuan/contract/nextstack/vm'
import { messages } from '@zhisuan/contract/sys/message'
import { verification } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { request } from './client.ts'

const list = `${vms.list.path}?cloud_id=1`
const stored = new Map<string, string>()
const sent: string[] = []
const answer = (status = 200): Promise<Response> => Promise.resolve(new Response('{"early":true}', { status }))
const asEarly = (answers: Readonly<Record<string, Promise<Response>>>, token = 't'): void =>
  void vi.stubGlobal('zhisuanEarly', { token, answers: new Map(Object.entries(answers)) })

beforeEach(() => {
  stored.clear()
  sent.length = 0
  vi.stubGlobal('document', { cookie: 'token=t' })
  vi.stubGlobal('location', { pathname: '/nextStack/vm', search: '' })
  vi.stubGlobal('localStorage', { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => stored.set(key, value) })
  vi.stubGlobal('fetch', (url: string) => {
    sent.push(url)
    return Promise.resolve(new Response('{}'))
  })
})
afterEach(() => vi.unstubAllGlobals())

/** As what shows it asks. */
const { signal } = new AbortController()
const askList = () => request(vms.list, { query: { cloud_id: '1' }, signal })

it('what was asked before the scripts came is not asked again, and answers once', async () => {
  asEarly({ [list]: answer() })
  expect(await askList()).toEqual({ early: true })
  expect(await askList()).toEqual({})
  expect(sent).toEqual([list])
})

it('is asked again where it was asked for somebody else, where their token had ended, and where nobody answered', async () => {
  asEarly({ [list]: answer() }, 'former')
  expect(await askList()).toEqual({})
  asEarly({ [list]: answer(401) })
  expect(await askList()).toEqual({})
  asEarly({ [list]: Promise.reject(new TypeError('offline')) })
  expect(await askList()).toEqual({})
  expect(sent).toHaveLength(3)
})

it('is old once something has been changed', async () => {
  asEarly({ [list]: answer() })
  await request(users.changePassword, { body: { old_password: 'a', password: 'b' } })
  expect(await askList()).toEqual({})
})

it('an address is remembered with what it asked, and what every page asks apart from it', async () => {
  vi.stubGlobal('location', { pathname: '/nextStack/volumes', search: '' })
  await request(users.current, { signal })
  await askList()
  expect(JSON.parse(stored.get('zhisuan.asked') ?? '')).toEqual({ '': [users.current.path], '/nextStack/volumes': [list] })
  // The same address by another question, as after another cloud was chosen: the former one is no longer its.
  vi.stubGlobal('location', { pathname: '/nextStack/eip', search: '' })
  await request(users.current, { signal })
  vi.stubGlobal('location', { pathname: '/nextStack/volumes', search: '' })
  await request(vms.list, { query: { cloud_id: '2' }, signal })
  expect(JSON.parse(stored.get('zhisuan.asked') ?? '')).toMatchObject({ '/nextStack/volumes': [`${vms.list.path}?cloud_id=2`] })
})

it('what no first drawing waits for is not remembered', async () => {
  await request(messages.unread, { signal })
  expect(sent).toEqual([messages.unread.path])
  expect(stored.size).toBe(0)
})

it('what is refused is not remembered', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"code":1,"message":"no"}', { status: 403 })))
  await expect(askList()).rejects.toThrow('no')
  expect(stored.size).toBe(0)
})

it('what somebody does is not remembered, also where it is a GET: it would send a code at each visit', async () => {
  await request(verification.patchSms, { params: { phone: '13800000000' } })
  expect(sent).toHaveLength(1)
  expect(stored.size).toBe(0)
})
