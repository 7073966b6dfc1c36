import { expect, it, vi } from 'vitest'
import { sharedStyles, styleComponent, styleHook, styleHooks } from './madeStyles.ts'

/** What of a document is asked here: a head, and styles that know their place in it. */
const head: Style[] = []
class Style {
  textContent = ''
  after(other: Style): void {
    head.splice(head.indexOf(this) + 1, 0, other)
  }
}
vi.stubGlobal('document', { createElement: () => new Style(), head: { prepend: (...elements: readonly Style[]) => void head.unshift(...elements) } })

const inHead = (): readonly string[] => head.map(({ textContent }) => textContent).filter((text) => text !== '')

it('puts styles where they are needed first, once, before ours, and what varies a component after all components', () => {
  const ours = new Style()
  ours.textContent = '.ours{}'
  head.push(ours)
  sharedStyles('.shared{}')()
  const use = styleHooks('.zs-made-root{--a:1}', '.zs-made-prefix{} .zs-made-prefix-b{}')
  expect(use('ant-tag', 'ant-tag-css-var')).toEqual(['', 'zs'])
  use('ant-tag', 'ant-tag-css-var')
  // A menu makes its hook whenever it is drawn.
  styleHooks('.zs-made-root{--a:1}', '.zs-made-prefix{} .zs-made-prefix-b{}')('ant-tag', 'ant-tag-css-var')
  styleComponent('.zs-made-prefix-c{}')({ prefixCls: 'ant-tag' })
  expect(styleHook('.zs-made-prefix-w{}')('ant-wave')).toBe('')
  // A menu within a dropdown: what it measures is its own, its look is the dropdown's.
  styleHooks('.zs-made-root{--m:1}', '.zs-made-prefix{}', false)('ant-menu')
  expect(inHead()).toEqual(['.shared{}', '.ant-tag-css-var{--a:1}', '.ant-tag{} .ant-tag-b{}', '.ant-wave-w{}', '.ant-menu{--m:1}', '.ant-tag-c{}', '.ours{}'])
})
