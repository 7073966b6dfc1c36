// A test, which is in no page.
// oxlint-disable-next-line no-restricted-imports
import { allCalls } from '@zhisuan/contract/calls'
import { kindText } from '@zhisuan/contract/kindTexts'
import { describe, expect, it } from 'vitest'
import texts from '../locales/zh/action.ts'
import { loadMessages } from '../i18n.ts'
import { matchesAction } from './actionText.ts'

/** Policies are about all that take a token, and the audit log names public ones, too. */
const actions = allCalls.filter(({ access, audit }) => access !== 'public' || audit).map(({ id }) => id)
const named = (names: object, key: string): boolean => Object.hasOwn(names, key)

describe('a search for an action', async () => {
  await loadMessages(['action'])
  const found = (typed: string): readonly string[] => actions.filter((action) => matchesAction(action, typed))

  it.each(['创建云主机', '云主机创建', '新建 云主机', '购买实例', '云主机 · 创建', 'nextstack.vm.create'])('%s finds it', (typed) =>
    expect(found(typed)).toContain('nextstack.vm.create'),
  )
  it.each([
    ['删除磁盘', 'nextstack.volume.delete'],
    ['查看云主机列表', 'nextstack.vm.list'],
    ['虚拟机开机', 'nextstack.vm.start'],
    ['编辑用户', 'ums.user.update'],
  ])('%s finds %s', (typed, action) => expect(found(typed)).toContain(action))

  it('finds nothing else', () => {
    expect(found('创建云主机')).not.toContain('nextstack.vm.delete')
    expect(found('创建云主机')).not.toContain('nextstack.volume.create')
    expect(found('驾驶飞机')).toEqual([])
  })
})

describe('names of actions', () => {
  it('are there for every family, kind and verb of the calls', () => {
    const missing = actions.flatMap((action) => {
      const [service = '', type = '', ...verb] = action.split('.')
      return [
        ...(named(texts.services, service) ? [] : [`services.${service}`]),
        ...(kindText(action, '') === '' ? [`${service}.${type} in contract/kindTexts.ts`] : []),
        ...(named(texts.verbs, verb.join('.')) ? [] : [`verbs.${verb.join('.')}`]),
      ]
    })
    expect([...new Set(missing)], 'add them to locales/zh/action.ts').toEqual([])
  })
})
