import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { antdStyles } from './antdStyles.ts'

const root = import.meta.dirname
const antd = dirname(createRequire(join(root, 'package.json')).resolve('antd/package.json'))
const plugin = antdStyles(root) as unknown as { readonly transform: (code: string, id: string) => { readonly code: string } | null }
const made = (file: string, code = readFileSync(join(antd, 'es', file), 'utf8')): string => plugin.transform(code, join(antd, 'es', file))?.code ?? ''

describe('styles of antd', () => {
  it('are made by antd, of our theme, for a class that is filled in later', () => {
    const code = made('table/style/index.js')
    expect(code).toContain('--ant-table-header-bg:#f5f7fb')
    expect(code).toContain('.zs-made-prefix-thead')
    expect(code).not.toContain('genStyleHooks(')
    // What all components share is said once.
    expect(code).not.toContain('--ant-color-primary:')
    expect(made('config-provider/style/index.js')).toMatch(/sharedStyles\(".*--ant-color-primary:#1d4fb8/)
  })

  it('are told apart within a module: two of one name, and what varies another', () => {
    const [row, column, ...others] = made('grid/style/index.js')
      .split('\n')
      .filter((line) => line.includes('styleHooks('))
    expect([row, column].map((one) => one?.includes('.zs-made-prefix{display:flex'))).toEqual([true, false])
    expect(others).toEqual([])
    expect(
      made('button/style/compact.js')
        .split('\n')
        .some((line) => line.includes('styleComponent(".zs-made-prefix-compact-item')),
    ).toBe(true)
    expect(
      made('cascader/style/panel.js')
        .split('\n')
        .some((line) => line.includes('styleHook(".zs-made-root{')),
    ).toBe(true)
  })

  it('leave the menu of a dropdown to the dropdown', () => {
    expect(made('menu/style/index.js')).toMatch(/styleHooks\(".*", injectStyle\)/s)
  })

  it('have the classes of a tree within a select filled in, which are known when that is drawn', () => {
    const code = made('tree-select/style/index.js')
    expect(code).toContain('.zs-made-treeprefixcls-checkbox')
    expect(code).toContain('.replaceAll("zs-made-treeprefixcls", treePrefixCls)')
    expect(code).not.toContain('zs-made-root-checkbox')
  })

  it('end the build where antd makes them in a way that is new', () => {
    expect(() => made('flex/style/index.js', `export const use = genStyleHooks(name, of)`)).toThrow('in a way that is new')
    expect(() => made('flex/style/index.js', `export const use = genStyleHooks('Flex2', of)`)).toThrow('in a way that is new')
  })

  it('are nothing that anything else of antd says', () => {
    expect(plugin.transform('genStyleHooks("Table", a)', join(antd, 'es/table/Table.js'))).toBeNull()
  })
})
